// Installs the published clients by their lock file, if they are not there yet. Says what it does.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
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
    `headgate: installing ${missing.map(([name]) => name).join(', ')} into test/interop/odis/`,
  )
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
