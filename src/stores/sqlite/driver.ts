/**
 * The SQLite that this Node has: `node:sqlite` from Node 22.13 on, and for Node 20 the packaged
 * driver, which is a port of it.
 */
import { createRequire } from 'node:module'
import { peerMissing, systemCode } from '../../core/errors.ts'

/** What the store uses of either driver. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqlValue[]): unknown
  all(...values: readonly SqlValue[]): readonly unknown[]
}

type SqlValue = string | number | null

interface Driver {
  readonly DatabaseSync: new (path: string | URL, options?: DatabaseOptions) => Database
}

interface DatabaseOptions {
  /** How long SQLite itself blocks for a lock, in milliseconds. */
  readonly timeout?: number
  readonly readOnly?: boolean
  /** No statement may damage the file. Drivers that do not know it ignore it. */
  readonly defensive?: boolean
}

/** An optional peer: from Node 22.13 on nothing needs it. */
const PACKAGED = '@photostructure/sqlite'

const builtIn = findBuiltIn()
let driver = builtIn

/** For reports of what was measured. */
export const DRIVER_NAME = builtIn === undefined ? PACKAGED : 'node:sqlite'

export const openDatabaseFile = (path: string | URL, options: DatabaseOptions = {}): Database => {
  driver ??= loadPackaged()
  return new driver.DatabaseSync(path, options)
}

/** Not `await import`: a module that waits cannot be loaded by `require()`. */
function loadPackaged(): Driver {
  const require = createRequire(import.meta.url)
  try {
    return require(PACKAGED)
  } catch (error) {
    if (systemCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw peerMissing('headgate/sqlite', [PACKAGED], error)
  }
}

/**
 * Node 22 warns on stderr that its SQLite is experimental. The log of a server is there, as lines
 * of JSON, so the warning is dropped: nothing else can warn while a built-in module loads.
 */
function findBuiltIn(): Driver | undefined {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    const found = process.getBuiltinModule('node:sqlite')
    return isDriver(found) ? found : undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function isDriver(found: object | undefined): found is Driver {
  return found !== undefined && 'DatabaseSync' in found
}
