/**
 * The connection to the file: stays open while all is well, and is opened anew after a failure, so
 * that the store recovers when the cause is gone.
 */
import { type Stats, statSync } from 'node:fs'
import { StoreError } from '../../core/errors.ts'
import { type Span, span } from '../../core/time.ts'
import { type OpenDatabaseOptions, openDatabase } from './database.ts'
import type { Database } from './driver.ts'
import { isBusy, storeContended, storeUnavailable } from './errors.ts'
import { prepareStatements, type Statements } from './statements.ts'

export interface Connection {
  /** Throws what `isBusy` recognises when another process holds the file, else a `StoreError`. */
  use<T>(work: (sql: Statements) => T): T
  close(): void
}

interface Opened {
  readonly db: Database
  readonly sql: Statements
  readonly file: Stats | undefined
}

/** Blocks up to `patience` while other processes open the same file; later it never blocks. */
export function connect(path: string, patience: Span, readOnly = false): Connection {
  const again = { create: false, patience: span(0), readOnly }
  let opened: Opened | undefined = openFirst(path, { create: true, patience, readOnly })

  const letGo = (): void => {
    const old = opened
    opened = undefined
    try {
      old?.db.close()
    } catch {
      // A broken connection may fail to close; the next one does not depend on it.
    }
  }

  return {
    use: (work) => {
      try {
        if (opened !== undefined && !isSameFile(opened.file, fileAt(path))) letGo()
        opened ??= open(path, again)
        return work(opened.sql)
      } catch (cause) {
        if (isBusy(cause) || cause instanceof StoreError) throw cause
        letGo()
        throw storeUnavailable(path, cause)
      }
    },
    close: () => {
      if (!readOnly) emptyLog(opened?.db)
      letGo()
    },
  }
}

/** The driver keeps the file open until its statements are collected; a copy of the file made now must have everything. */
function emptyLog(db: Database | undefined): void {
  try {
    db?.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Others use the file: then its log is theirs too.
  }
}

function openFirst(path: string, options: OpenDatabaseOptions): Opened {
  try {
    return open(path, options)
  } catch (error) {
    if (isBusy(error)) throw storeContended(path, 'another process writing all the while', error)
    throw error
  }
}

function open(path: string, options: OpenDatabaseOptions): Opened {
  const db = openDatabase(path, options)
  return { db, sql: prepareStatements(db), file: fileAt(path) }
}

const fileAt = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

/** SQLite goes on writing to a file that was deleted or replaced; its answers would be lost. */
const isSameFile = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
