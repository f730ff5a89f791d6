// Compiles src/ beside dist/ and then puts it in its place: whoever runs dist/ meanwhile sees the old
// build or the new one, a deleted module cannot linger, and a failed build changes nothing.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const next = mkdtempSync(`${root}dist-`)
try {
  const compiler = `${root}node_modules/typescript/bin/tsc`
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', next], {
    cwd: root,
    stdio: 'inherit',
  })
  chmodSync(`${next}/cli/main.js`, 0o755)
  chmodSync(next, 0o755)
  const old = `${next}-old`
  if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old)
  renameSync(next, `${root}dist`)
  rmSync(old, { recursive: true, force: true })
} finally {
  rmSync(next, { recursive: true, force: true })
}
