/** A database file that others use meanwhile, for its operator: copied whole, and inspected. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { assert, HeadgateError } from '../../core/errors.ts'
import { type Span, seconds } from '../../core/time.ts'
import { FILE_MODE, openDatabase } from './database.ts'
import { type Database, DRIVER_NAME } from './driver.ts'
import { isBusy, sqliteMistake, storeContended, unopenable } from './errors.ts'
import { isRow, prepareStatements } from './statements.ts'

export interface SqliteBackup {
  readonly keys: number
  readonly entries: number
  readonly bytes: number
}

interface BackupOptions {
  readonly from: string
  readonly to: string
  readonly patience?: Span
}

/** Throws STORE_BACKUP_FAILED; then there is no file of that name. Blocks this process, and no other. */
export const backupSqlite = ({ from, to, patience = seconds(60) }: BackupOptions): SqliteBackup => {
  const [path, temporary] = [resolve(from), `${resolve(to)}.partial`]
  if (existsSync(to)) throw failed(to, 'must not exist yet', 'a file')
  if (!existsSync(path)) throw unopenable(path, new Error('no such file'))
  try {
    rmSync(temporary, { force: true })
    // SQLite fills an empty file: so it is never readable by others.
    closeSync(openSync(temporary, 'wx', FILE_MODE))
    copy(path, temporary, patience)
    const found = inspectCopy(temporary)
    sync(temporary)
    renameSync(temporary, to)
    sync(dirname(resolve(to)))
    return found
  } catch (cause) {
    removeIfThere(temporary)
    if (isBusy(cause)) throw storeContended(path, 'another process writing all the while', cause)
    if (cause instanceof HeadgateError) throw cause
    const finding = cause instanceof Error ? cause.message : String(cause)
    throw failed(to, 'must be a file that can be written whole', finding, cause)
  }
}

/** Reads one moment of the file, while others go on writing behind it. */
function copy(path: string, to: string, patience: Span): void {
  const db = openDatabase(path, { create: false, patience, readOnly: true })
  try {
    db.prepare('VACUUM INTO ?').run(to)
  } finally {
    db.close()
  }
}

function inspectCopy(path: string): SqliteBackup {
  const db = openDatabase(path, { create: false, patience: seconds(1), readOnly: true })
  try {
    const verdict = cell(db, 'PRAGMA integrity_check', 'integrity_check')
    if (verdict !== 'ok') throw failed(path, 'must be whole', String(verdict))
    return {
      keys: prepareStatements(db).countKeys(),
      entries: Number(cell(db, 'SELECT count(*) AS entries FROM entries', 'entries')),
      bytes: statSync(path).size,
    }
  } finally {
    db.close()
  }
}

function cell(db: Database, sql: string, column: string): unknown {
  const row = db.prepare(sql).get()
  assert(isRow(row), `${sql} answers a row`)
  return row[column]
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Where not even that can be done, why it failed before says more. */
function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

const failed = (path: string, rule: string, finding: string, cause?: unknown) =>
  sqliteMistake('STORE_BACKUP_FAILED', path, rule, finding, cause)

// What a file is like. Looks only.

export interface SqliteInspection {
  readonly exists: boolean
  /** By name, for people. */
  readonly facts: Readonly<Record<string, string | number>>
  /** Why it cannot be a store here. */
  readonly faults: readonly string[]
}

/** Throws as opening does where the file is none of ours. */
export const inspectSqlite = (file: string): SqliteInspection => {
  const path = resolve(file)
  const faults = [
    ...(existsSync(path) && !isWritable(path) ? ['the file cannot be written here'] : []),
    // SQLite keeps its log beside the file.
    ...(isWritable(dirname(path)) ? [] : ['files cannot be made in its folder here']),
  ]
  if (!existsSync(path)) return { exists: false, facts: { driver: DRIVER_NAME }, faults }
  const db = openDatabase(path, { create: false, patience: seconds(5), readOnly: true })
  try {
    const ask = (sql: string): string | number => {
      const row: unknown = db.prepare(sql).get()
      const [value] = isRow(row) ? Object.values(row) : []
      return typeof value === 'number' ? value : String(value)
    }
    return {
      exists: true,
      facts: {
        driver: DRIVER_NAME,
        version: ask('SELECT sqlite_version()'),
        format: ask('PRAGMA user_version'),
        journal: ask('PRAGMA journal_mode'),
        entries: ask('SELECT count(*) FROM entries'),
        bytes: statSync(path).size,
        logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      },
      faults,
    }
  } finally {
    db.close()
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
