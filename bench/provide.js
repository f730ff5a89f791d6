/** Gets what a run needs: the peers from npm, and Debian's packages where that is possible. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DRIVER_NAME } from '../dist/stores/sqlite/driver.js'
import { installLocked } from '../scripts/install.js'

export { programEnvironment, programVersion, provideProgram } from '../scripts/programs.js'

const BENCH = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The packages of bench/package.json, by its lock file. */
export const providePackages = (say) =>
  installLocked(BENCH, () => say('installing the peers into bench/'))

/** Of the bench's own packages, or of those that Headgate itself depends on. */
export const packageVersion = (name) => {
  const file = [packageFile(name), packageFile(name, ROOT)].find((path) => existsSync(path))
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/** The SQLite driver that the store uses on this Node, with its version. */
export const driverVersion = () =>
  DRIVER_NAME.startsWith('node:')
    ? `${DRIVER_NAME} with SQLite ${process.versions.sqlite}`
    : `${DRIVER_NAME} ${packageVersion(DRIVER_NAME)}`

const packageFile = (name, folder = BENCH) => `${folder}node_modules/${name}/package.json`
