/** The SQL of the store, prepared once for a connection, with typed rows. */
import { assert } from '../../core/errors.ts'
import { listedName } from '../../core/names.ts'
import type { Append, Entry, Item, Key, Value } from '../../core/store.ts'
import type { Instant, Span } from '../../core/time.ts'
import type { Database } from './driver.ts'

/** What is kept under a key. */
interface KeptItem {
  readonly value: Value
  readonly expiresAt: number | undefined
  /** How long the file must have lived before this may be forgotten. */
  readonly keptUntil: number | undefined
}

/** How long the file had lived when the machine had run for so long. */
export interface LivedRecord {
  readonly lived: number
  readonly uptime: number
}

export interface Statements {
  /** For a group that may write: nobody else writes until it ends. */
  begin(): void
  /** For a group that only looks: takes no lock that a writer would wait for, and waits for none. */
  beginLook(): void
  commit(): void
  rollback(): void
  get(key: Key): Value | undefined
  put(key: Key, kept: KeptItem): void
  /** Writes over a key that was found. */
  change(key: Key, kept: KeptItem): void
  remove(key: Key): void
  append(append: Append): void
  entries(stream: string, after: number, limit: number): Entry[]
  /** Forgets at most `limit` entries; answers how many. */
  trim(stream: string, before: number, limit: number): number
  range(index: string, after: Key, limit: number): Item[]
  scan(after: Key, limit: number): Item[]
  /** The key `distance` places beyond `after`. */
  keyBeyond(after: Key, distance: number): Key | undefined
  /** Forgets the expired among the keys beyond `after` up to `last`; without `last`, to the end. */
  forget(after: Key, last: Key | undefined, now: Instant, lived: Span): void
  lived(): LivedRecord
  recordLived(record: LivedRecord): void
}

export function prepareStatements(db: Database): Statements {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const beginLook = db.prepare('BEGIN')
  const get = db.prepare('SELECT value FROM items WHERE key = ?')
  const put = db.prepare(
    'REPLACE INTO items (key, value, expires_at, kept_until) VALUES (?, ?, ?, ?)',
  )
  const change = db.prepare(
    'UPDATE items SET value = ?, expires_at = ?, kept_until = ? WHERE key = ?',
  )
  const remove = db.prepare('DELETE FROM items WHERE key = ?')
  const append = db.prepare('INSERT INTO entries (stream, entry) VALUES (?, ?)')
  const entries = db.prepare(ENTRIES)
  const trim = db.prepare(TRIM)
  const range = db.prepare(RANGE)
  const scan = db.prepare(SCAN)
  const keyBeyond = db.prepare('SELECT key FROM items WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?')
  const forget = db.prepare(`DELETE FROM items WHERE key > ? AND key <= ? AND ${FORGETTABLE}`)
  const forgetRest = db.prepare(`DELETE FROM items WHERE key > ? AND ${FORGETTABLE}`)
  const lived = db.prepare('SELECT lived, uptime FROM lived')
  const recordLived = db.prepare('UPDATE lived SET lived = ?, uptime = ?')
  return {
    begin: () => void begin.run(),
    beginLook: () => void beginLook.run(),
    commit: () => void commit.run(),
    rollback: () => void rollback.run(),
    get: (key) => textOf(get.get(key), 'value'),
    put: (key, { value, expiresAt = null, keptUntil = null }) =>
      void put.run(key, value, expiresAt, keptUntil),
    change: (key, { value, expiresAt = null, keptUntil = null }) =>
      void change.run(value, expiresAt, keptUntil, key),
    remove: (key) => void remove.run(key),
    append: ({ stream, entry }) => void append.run(stream, entry),
    entries: (stream, after, limit) => entries.all(stream, after, limit).map(toEntry),
    trim: (stream, before, limit) => Number(trim.run(stream, before, limit).changes),
    range: (index, after, limit) => {
      // No index has such a name; a key may.
      if (index.includes('#')) return []
      const [first, beyond] = [listedName(index, ''), `${index}${BEYOND_LISTED}`]
      return range.all(justBeyond(after), first, beyond, limit).map(toItem)
    },
    scan: (after, limit) => scan.all(after, limit).map(toItem),
    keyBeyond: (after, distance) => textOf(keyBeyond.get(after, distance - 1), 'key'),
    forget: (after, last, now, lived) =>
      void (last === undefined
        ? forgetRest.run(after, now, lived)
        : forget.run(after, last, now, lived)),
    lived: () => toLived(lived.get()),
    recordLived: (record) => void recordLived.run(record.lived, record.uptime),
  }
}

/** Expired by the clock, and kept as long in real time: the clock may have leapt. */
const FORGETTABLE = 'expires_at <= ? AND kept_until <= ?'

const ENTRIES = `SELECT position, entry FROM entries
  WHERE stream = ? AND position > ? ORDER BY position LIMIT ?`

const TRIM = `DELETE FROM entries WHERE position IN
  (SELECT position FROM entries WHERE stream = ? AND position < ? ORDER BY position LIMIT ?)`

/** What an index lists has its name and `#` before it: neighbours in the order of keys, so they need no list. */
const RANGE = `SELECT key, value FROM items
  WHERE key >= max(?, ?) AND key < ? ORDER BY key LIMIT ?`

/** The character after `#`. */
const BEYOND_LISTED = '$'

/** The first text beyond a key: no key holds NUL. */
const justBeyond = (key: Key): string => (key === '' ? '' : `${key}\u0001`)

const SCAN = 'SELECT key, value FROM items WHERE key > ? ORDER BY key LIMIT ?'

const toItem = (row: unknown): Item => ({ key: column(row, 'key'), value: column(row, 'value') })

function toEntry(row: unknown): Entry {
  const position: unknown = isRow(row) ? row['position'] : undefined
  assert(typeof position === 'number', 'an entry has a position')
  return { position, entry: column(row, 'entry') }
}

function toLived(row: unknown): LivedRecord {
  assert(isRow(row), 'a file records how long it has lived')
  return { lived: Number(row['lived']), uptime: Number(row['uptime']) }
}

const textOf = (row: unknown, name: string): string | undefined =>
  row === undefined ? undefined : column(row, name)

function column(row: unknown, name: string): string {
  const value: unknown = isRow(row) ? row[name] : undefined
  assert(typeof value === 'string', `the column ${name} holds text`)
  return value
}

export const isRow = (row: unknown): row is Readonly<Record<string, unknown>> =>
  typeof row === 'object' && row !== null
