/** Installs what a folder of test/interop/ locks, if it is not there yet. Says what it does. */
import { fileURLToPath } from 'node:url'
import { installLocked } from '../../scripts/install.js'

/** Only one test file of a folder may call it: test files run at the same time, and npm does not wait. */
export const install = (folder: '' | 'odis/' | 'evm/' | 'middleware/' | 'runtimes/'): void => {
  const here = fileURLToPath(new URL(`./${folder}`, import.meta.url))
  const say = () =>
    console.log(`headgate: installing published packages into test/interop/${folder}`)
  installLocked(here, say, ['--ignore-scripts'])
}
