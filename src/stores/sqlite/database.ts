/** A database file: created if missing, known to be ours, set up as we want it, and its schema up to date. */
import { closeSync, openSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { assert, quote, systemCode } from '../../core/errors.ts'
import { type Span, span, toMillis } from '../../core/time.ts'
import { uptime } from '../../lib/clock.ts'
import { type Database, openDatabaseFile } from './driver.ts'
import { isBusy, sqliteMistake, unopenable } from './errors.ts'
import { isRow } from './statements.ts'

/** The file shows who was limited and when: other users of the machine need not read it. */
export const FILE_MODE = 0o600

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

/** 'HdGt' in ASCII: marks our files among those of other programs. */
export const APPLICATION_ID = 0x48644774

/** `MIGRATIONS[n]` leads from schema version n to n + 1. A step once released is never edited. */
export const MIGRATIONS: readonly string[] = [
  `-- The value is what every decision reads: without a rowid, one descent finds it.
   -- No index on expires_at: it would be rewritten on every charge; see transactions.ts.
   CREATE TABLE items (
     key        TEXT PRIMARY KEY NOT NULL,
     value      TEXT NOT NULL,
     expires_at INTEGER,
     -- Measured by how long the file has lived; see transactions.ts.
     kept_until INTEGER
   ) STRICT, WITHOUT ROWID;

   -- AUTOINCREMENT: a position is never used again, though its entry was trimmed.
   CREATE TABLE entries (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     stream   TEXT NOT NULL,
     entry    TEXT NOT NULL
   ) STRICT;
   CREATE INDEX entries_by_stream ON entries (stream, position);

   CREATE TABLE lived (
     only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
     lived    INTEGER NOT NULL,
     uptime   INTEGER NOT NULL
   ) STRICT;
   INSERT INTO lived VALUES (1, 0, 0);`,

  `-- Entries that come from another store keep their positions, which several streams may share there.
   ALTER TABLE entries RENAME TO old_entries;
   DROP INDEX entries_by_stream;
   CREATE TABLE entries (
     stream TEXT NOT NULL, position INTEGER NOT NULL, entry TEXT NOT NULL,
     PRIMARY KEY (stream, position)
   ) STRICT;
   INSERT INTO entries SELECT stream, position, entry FROM old_entries ORDER BY position;
   -- Where a stream goes on of which nothing is left, or whose last entries were trimmed elsewhere.
   CREATE TABLE heads (stream TEXT PRIMARY KEY NOT NULL, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   -- All that a group of calls must know of the file, in the row that it reads anyway.
   ALTER TABLE lived ADD COLUMN last_position INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE lived ADD COLUMN fence TEXT;
   UPDATE lived SET last_position =
     coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'old_entries'), 0);
   DROP TABLE old_entries;`,
]

/** The path of a database file; SQLite's names for databases without a file are refused. */
export function checkDatabasePath(path: string): void {
  if (path !== '' && path !== ':memory:' && !path.includes('\0')) return
  const thing = 'the path of a SQLite store'
  throw sqliteMistake('STORE_PATH_INVALID', thing, 'must name a file', quote(path))
}

export interface OpenDatabaseOptions {
  /** Create what is missing. Not on a reopen: an empty store would forget every charge. */
  readonly create: boolean
  /** How long to block while other processes hold the file. */
  readonly patience: Span
  /** For one who only looks, and may do no more. */
  readonly readOnly?: boolean
}

export function openDatabase(path: string, options: OpenDatabaseOptions): Database {
  const { create, patience, readOnly = false } = options
  if (readOnly) return openToLook(path, patience)
  if (create) createFile(path)
  else statSync(path)
  let db: Database | undefined
  try {
    db = openDatabaseFile(path, { timeout: 0, defensive: true })
    const opened = db
    insist(patience, () => prepareFile(opened, path))
    return db
  } catch (cause) {
    db?.close()
    throw isBusy(cause) ? cause : unopenable(path, cause)
  }
}

/** Nothing is created, migrated or set: the file stays as it is, byte by byte. */
function openToLook(path: string, patience: Span): Database {
  let db: Database | undefined
  try {
    db = openReadable(path, patience)
    const version = schemaVersion(db, path)
    if (version === MIGRATIONS.length) return db
    const rule = `must have schema version ${MIGRATIONS.length}: one that may write it brings it there`
    throw sqliteMistake('STORE_READ_ONLY', path, rule, `version ${version}`)
  } catch (cause) {
    db?.close()
    throw isBusy(cause) ? cause : unopenable(path, cause)
  }
}

/**
 * A file whose log nobody has open can be read only by making one, which takes the right to. Where nothing
 * is in a log, the file alone is all there is: then it is read as one that does not change.
 */
function openReadable(path: string, patience: Span): Database {
  const options = { readOnly: true, timeout: toMillis(patience) }
  const db = openDatabaseFile(path, options)
  try {
    pragma(db, 'user_version')
    return db
  } catch (cause) {
    db.close()
    const logged = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (logged > 0 || isBusy(cause)) throw cause
    return openDatabaseFile(new URL('?immutable=1', pathToFileURL(path)), options)
  }
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

function prepareFile(db: Database, path: string): void {
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
function lookWhoseItIs(db: Database, path: string): void {
  db.exec('BEGIN')
  try {
    schemaVersion(db, path)
  } finally {
    rollBack(db)
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

/**
 * Brings the schema up to date. Several processes may start at once: the one that gets the
 * lock migrates, and the others look again under the lock and find nothing left to do.
 */
export function migrate(db: Database, path: string, migrations = MIGRATIONS): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(db, path, migrations)
    if (version === migrations.length) {
      // BEGIN IMMEDIATE passes on a file that may only be read; a write, taken back, does not.
      db.exec(`PRAGMA user_version = ${version}`)
      db.exec('ROLLBACK')
      return
    }
    for (const step of migrations.slice(version)) db.exec(step)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${migrations.length}`)
    db.exec('COMMIT')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

/** Ends a transaction that may have ended already: SQLite rolls back by itself after some failures. */
function rollBack(db: Database): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // There was nothing left to roll back.
  }
}

/** The version of a file of ours, 0 of an empty one; refuses all others. Writes nothing. */
function schemaVersion(db: Database, path: string, migrations = MIGRATIONS): number {
  const application = pragma(db, 'application_id')
  const version = pragma(db, 'user_version')
  const tables = numberOf(db, COUNT_TABLES, 'tables')
  if (application === 0 && version === 0 && tables === 0) return 0
  if (application !== APPLICATION_ID) {
    const finding = `a database of another program (application id ${application})`
    throw sqliteMistake('STORE_FOREIGN_FILE', path, 'must be empty or written by Headgate', finding)
  }
  if (version > migrations.length) {
    const rule = `must have schema version ${migrations.length} or older`
    throw sqliteMistake('STORE_SCHEMA_NEWER', path, rule, `version ${version}, of a newer Headgate`)
  }
  return version
}

const COUNT_TABLES = 'SELECT count(*) AS tables FROM sqlite_schema'

const pragma = (db: Database, name: 'application_id' | 'user_version'): number =>
  numberOf(db, `PRAGMA ${name}`, name)

function numberOf(db: Database, sql: string, column: string): number {
  const row = db.prepare(sql).get()
  assert(isRow(row), `${sql} answers one row`)
  return Number(row[column])
}
