/** Installs what a folder of test/interop/ locks, if it is not there yet. Says what it does. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Only one test file of a folder may call it: test files run at the same time, and npm does not wait. */
export const install = (folder: '' | 'odis' | 'evm'): void => {
  const here = fileURLToPath(new URL(`./${folder}`, import.meta.url))
  const { dependencies }: { dependencies: Record<string, string> } = packageIn(here)
  const missing = Object.entries(dependencies)
    .filter(([name, version]) => installed(here, name) !== version)
    .map(([name]) => name)
  if (missing.length === 0) return
  console.log(`headgate: installing ${missing.join(', ')} into test/interop/${folder}`)
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

const packageIn = (path: string) => JSON.parse(readFileSync(`${path}/package.json`, 'utf8'))

function installed(here: string, name: string): string | undefined {
  const path = `${here}/node_modules/${name}`
  return existsSync(`${path}/package.json`) ? packageIn(path).version : undefined
}
