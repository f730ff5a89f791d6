import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests that start processes run what users run: `dist/`, built from the sources under test. */
export const setup = (): void => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const command = ['scripts/build.js', '--if-stale']
  execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
}
