/** Opens a database file: creates it, knows whose it is, and sets how SQLite keeps it. */

import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { systemCode } from '../../core/errors.ts'
import { type Span, span } from '../../core/time.ts'
import { uptime } from '../clock.ts'
import { isBusy, mistake, unopenable } from './errors.ts'
import { migrate, schemaVersion } from './migrations.ts'

/** State tells who was limited and when: nobody else on the machine needs to read it. */
const FILE_MODE = 0o600

/**
 * Pages of 4 KiB in the log before they are copied into the file: some 16 MiB. SQLite's own 1,000
 * copies hot pages more often (44–56 k decisions/s where this gives 54–61 k, 256 callers); 16,000
 * gives little more for a log of 63 MiB.
 */
const CHECKPOINT_PAGES = 4_000

/** Memory for pages, in KiB: the upper levels of the trees of some million keys. */
const CACHE_KIB = 32_768

/** Between tries while another process opens the same new file. */
const OPEN_PAUSE_MS = 5

export interface OpenOptions {
  /** Create what is missing. Not on a reopen: an empty store would forget every charge. */
  readonly create: boolean
  /** How long to block while other processes hold the file. */
  readonly patience: Span
}

export function openDatabase(
  path: string,
  { create, patience }: OpenOptions,
): DatabaseSyncInstance {
  if (create) createFile(path)
  else statSync(path)
  let db: DatabaseSyncInstance | undefined
  try {
    db = new DatabaseSync(path, { timeout: 0, defensive: true })
    const opened = db
    insist(patience, () => prepareFile(opened, path))
    return db
  } catch (cause) {
    db?.close()
    throw isBusy(cause) ? cause : unopenable(path, cause)
  }
}

/** The path of a database file; SQLite's names for databases without a file are refused. */
export function checkPath(path: string): void {
  if (path !== '' && path !== ':memory:' && !path.includes('\0')) return
  const finding = JSON.stringify(path)
  throw mistake('STORE_PATH_INVALID', 'the path of a SQLite store', 'must name a file', finding)
}

/** Exclusively, and only if missing: closing a second handle of a file drops SQLite's locks. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') return
    throw unopenable(path, cause)
  }
}

function prepareFile(db: DatabaseSyncInstance, path: string): void {
  lookWhoseItIs(db, path)
  db.exec('PRAGMA journal_mode = WAL')
  // FULL: the log is on the disk before COMMIT returns. NORMAL could lose answers on power loss.
  db.exec('PRAGMA synchronous = FULL')
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
  migrate(db, path)
}

/**
 * Before anything is touched: turning to WAL would already change a file that is not ours. In one
 * transaction, since a process that just creates the file would else be seen half done.
 */
function lookWhoseItIs(db: DatabaseSyncInstance, path: string): void {
  db.exec('BEGIN')
  try {
    schemaVersion(db, path)
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

/**
 * SQLite's own waiting does not cover the change to WAL, so two processes that create one file
 * could fail each other. Blocks the event loop: only opening may.
 */
function insist(patience: Span, work: () => void): void {
  const deadline = span(uptime() + patience)
  for (;;) {
    try {
      work()
      return
    } catch (error) {
      if (!isBusy(error) || uptime() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_PAUSE_MS)
    }
  }
}
