/**
 * Doors behind which an optional package is imported. An import statement that fails cannot be caught,
 * and a module that waits for `import()` cannot be required: so on Node such a door is opened by
 * `require`. scripts/doors.js writes the modules that call this; bundlers are led past them.
 */
import { peerMissing, systemCode } from '../core/errors.ts'

/** The exports of the module at `path`; throws with the packages to install if some are missing. */
export const openDoor = (
  door: string,
  path: string,
  peers: readonly string[],
  require: NodeJS.Require,
): unknown => {
  try {
    return require(path)
  } catch (error) {
    const missing = peers.filter((name) => !isInstalled(name, require))
    if (missing.length === 0) throw error
    throw peerMissing(door, missing, error)
  }
}

/** A package without an entry of its own is found too: then it is the entry that is missing. */
function isInstalled(name: string, require: NodeJS.Require): boolean {
  try {
    require.resolve(name)
    return true
  } catch (error) {
    return systemCode(error) !== 'MODULE_NOT_FOUND'
  }
}
