// Fills a folder with what the package headgate-server holds: the whole build, and the schema of headgate.yml.
//
//   node scripts/pack-server.js [FOLDER]
//
// `npm pack ./packages/server` runs it for that folder.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'packages/server')
const folder = resolve(process.argv[2] ?? home)

const copy = (from, name) => {
  const target = join(folder, name)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(from, name), target, { recursive: true })
}

execFileSync(process.execPath, [join(root, 'scripts/build.js'), '--if-stale'], { stdio: 'inherit' })
for (const name of ['dist', 'LICENSE', 'docs/reference/headgate.schema.json']) copy(root, name)
if (folder !== home) for (const name of ['package.json', 'README.md']) copy(home, name)
