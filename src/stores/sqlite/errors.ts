/** What can be wrong with a database file, and what SQLite's own failures mean to a caller. */
import { accessSync, existsSync, constants as modes, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  HeadgateError,
  type MakeMistake,
  makeMistake,
  StoreError,
  systemCode,
} from '../../core/errors.ts'

/**
 * - `STORE_PATH_INVALID`: the path names no file.
 * - `STORE_UNOPENABLE`: missing directory, missing rights, a directory in the file's place.
 * - `STORE_NOT_A_DATABASE`: the file is no SQLite database, or its beginning is damaged.
 * - `STORE_FOREIGN_FILE`: a SQLite database of some other program.
 * - `STORE_SCHEMA_NEWER`: written by a newer Headgate.
 * - `STORE_READ_ONLY`: cannot be read without writing, or was to be written by one who only looks.
 * - `STORE_BACKUP_FAILED`: its copy could not be made, or is not whole.
 */
export type SqliteErrorCode =
  | 'STORE_PATH_INVALID'
  | 'STORE_UNOPENABLE'
  | 'STORE_NOT_A_DATABASE'
  | 'STORE_FOREIGN_FILE'
  | 'STORE_SCHEMA_NEWER'
  | 'STORE_READ_ONLY'
  | 'STORE_BACKUP_FAILED'

/** SQLite's primary result codes that we distinguish. https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
const SQLITE_NOTADB = 26

/** The primary result code, or undefined if the error is not from SQLite. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** Another process holds the file, or won a race for its log: trying again helps. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === SQLITE_BUSY || code === SQLITE_PROTOCOL
}

export const storeUnavailable = (path: string, cause: unknown): StoreError =>
  new StoreError(
    {
      code: 'STORE_UNAVAILABLE',
      thing: path,
      rule: 'must be readable and writable while the store is open',
      finding: messageOf(cause),
    },
    { cause },
  )

export const storeContended = (path: string, finding: string, cause?: unknown): StoreError =>
  new StoreError(
    {
      code: 'STORE_CONTENDED',
      thing: path,
      rule: 'must be free for writing within the patience of a call',
      finding,
    },
    { cause },
  )

export const storeClosed = (path: string): StoreError =>
  new StoreError({ code: 'STORE_CLOSED', thing: path, rule: 'takes no calls once closed' })

/** Why a file could not be opened, from what the system or SQLite said. */
export function unopenable(path: string, cause: unknown): HeadgateError<SqliteErrorCode> {
  if (cause instanceof HeadgateError) return cause
  if (resultCode(cause) === SQLITE_NOTADB) {
    return sqliteMistake(
      'STORE_NOT_A_DATABASE',
      path,
      'must be a SQLite database',
      'another format',
      cause,
    )
  }
  const rule = 'must be a file that this process can create or write'
  return sqliteMistake('STORE_UNOPENABLE', path, rule, obstacle(path, cause), cause)
}

export const sqliteMistake: MakeMistake<SqliteErrorCode> = makeMistake

/** In words where we know them: SQLite itself only says that it was unable. */
function obstacle(path: string, cause: unknown): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return 'a directory'
  if (!existsSync(dirname(path))) return `no directory ${dirname(path)}`
  return isDenied(path, cause) ? 'no right to write there' : messageOf(cause)
}

/** Whether the system denied access: it says so by name to us, and not at all to SQLite. */
function isDenied(path: string, cause: unknown): boolean {
  const code = resultCode(cause)
  if (code === SQLITE_CANTOPEN) return !isWritable(path) || !isWritable(dirname(path))
  return code === SQLITE_READONLY || ['EACCES', 'EPERM', 'EROFS'].includes(systemCode(cause))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, modes.R_OK | modes.W_OK)
    return true
  } catch {
    return false
  }
}

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
