// Runs every test that counts its repetitions (test/support/counts.ts) at its full count.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const counted = ['src', 'test']
  .flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((path) => path.endsWith('.test.ts'))
  .filter((path) => readFileSync(`${root}${path}`, 'utf8').includes('support/counts.ts'))

console.log(`headgate: proving ${counted.length} files at their full counts`)
execFileSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', ...counted, ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, HEADGATE_PROVE: '1' },
  },
)
