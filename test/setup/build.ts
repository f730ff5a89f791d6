import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests that start processes run what users run: `dist/`, built from the sources under test. */
export const setup = (): void => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit' })
}
