// Installs what a folder of test/interop/ locks, if it is not there yet. Says what it does.
//   node test/interop/install.js [odis | evm]
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [, , folder = ''] = process.argv
const here = fileURLToPath(new URL(folder === '' ? '.' : `${folder}/`, import.meta.url))
const { dependencies } = JSON.parse(readFileSync(`${here}package.json`, 'utf8'))
const versionOf = (name) => {
  const file = `${here}node_modules/${name}/package.json`
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}
const missing = Object.entries(dependencies).filter(
  ([name, version]) => versionOf(name) !== version,
)

if (missing.length > 0) {
  console.log(
    `headgate: installing ${missing.map(([name]) => name).join(', ')} into test/interop/${folder}`,
  )
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
