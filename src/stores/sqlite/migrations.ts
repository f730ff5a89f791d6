/** The schema, as the numbered steps that lead to it. A step once released is never edited. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { mistake } from './errors.ts'

/** 'HdGt' in ASCII: tells our files from those of other programs. */
export const APPLICATION_ID = 0x48644774

/** `MIGRATIONS[n]` leads from schema version n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  `-- The value is what every decision reads: without a rowid, one descent finds it.
   -- No index on expires_at: it would be rewritten on every charge; see sweep.ts.
   CREATE TABLE items (
     key        TEXT PRIMARY KEY NOT NULL,
     value      TEXT NOT NULL,
     expires_at INTEGER,
     listed_in  TEXT
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX items_by_list ON items (listed_in, key) WHERE listed_in IS NOT NULL;

   -- AUTOINCREMENT: a position is never used again, though its entry was trimmed.
   CREATE TABLE entries (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     stream   TEXT NOT NULL,
     entry    TEXT NOT NULL
   ) STRICT;
   CREATE INDEX entries_by_stream ON entries (stream, position);`,
]

/**
 * Brings the schema up to date. Several processes may start at once: whoever gets the lock
 * migrates, and the others look again under the lock and find nothing left to do.
 */
export function migrate(db: DatabaseSyncInstance, path: string, migrations = MIGRATIONS): void {
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
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** The version of a file of ours, 0 of an empty one; refuses all others. Writes nothing. */
export function schemaVersion(
  db: DatabaseSyncInstance,
  path: string,
  migrations = MIGRATIONS,
): number {
  const application = pragma(db, 'application_id')
  const version = pragma(db, 'user_version')
  const { tables }: { tables: unknown } = db.prepare(COUNT_TABLES).get()
  if (application === 0 && version === 0 && tables === 0) return 0
  if (application !== APPLICATION_ID) {
    const finding = `a database of another program (application id ${application})`
    throw mistake('STORE_FOREIGN_FILE', path, 'must be empty or written by Headgate', finding)
  }
  if (version > migrations.length) {
    const rule = `must have schema version ${migrations.length} or older`
    throw mistake('STORE_SCHEMA_NEWER', path, rule, `version ${version}, of a newer Headgate`)
  }
  return version
}

const COUNT_TABLES = 'SELECT count(*) AS tables FROM sqlite_schema'

function pragma(db: DatabaseSyncInstance, name: 'application_id' | 'user_version'): number {
  const row: Readonly<Record<string, unknown>> = db.prepare(`PRAGMA ${name}`).get()
  return Number(row[name])
}
