/** The SQL of the store, prepared once for a connection, with typed rows. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { assert } from '../../core/errors.ts'
import type { Append, Entry, Item, Key, Value } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'

/** What is kept under a key. */
export interface Kept {
  readonly value: Value
  readonly expiresAt: number | undefined
  readonly index: string | undefined
}

export interface Statements {
  begin(): void
  commit(): void
  rollback(): void
  get(key: Key, now: Instant): Value | undefined
  put(key: Key, kept: Kept): void
  /** Writes over a key that was found. Leaves the index alone where the key stays in its list. */
  change(key: Key, kept: Kept): void
  remove(key: Key): void
  append(append: Append): void
  entries(stream: string, after: number, limit: number): Entry[]
  /** Forgets at most `limit` entries; answers how many. */
  trim(stream: string, before: number, limit: number): number
  range(index: string, after: Key, limit: number, now: Instant): Item[]
  scan(after: Key, limit: number, now: Instant): Item[]
  /** The key `distance` places beyond `after`. */
  keyBeyond(after: Key, distance: number): Key | undefined
  /** Forgets the expired among the keys beyond `after` up to `last`; without `last`, to the end. */
  forget(after: Key, last: Key | undefined, now: Instant): void
}

export function statements(db: DatabaseSyncInstance): Statements {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const get = db.prepare(`SELECT value FROM items WHERE key = ? AND ${LIVE}`)
  const put = db.prepare(
    'REPLACE INTO items (key, value, expires_at, listed_in) VALUES (?, ?, ?, ?)',
  )
  const change = db.prepare(
    'UPDATE items SET value = ?, expires_at = ? WHERE key = ? AND listed_in IS ?',
  )
  const remove = db.prepare('DELETE FROM items WHERE key = ?')
  const append = db.prepare('INSERT INTO entries (stream, entry) VALUES (?, ?)')
  const entries = db.prepare(ENTRIES)
  const trim = db.prepare(TRIM)
  const range = db.prepare(RANGE)
  const scan = db.prepare(SCAN)
  const keyBeyond = db.prepare('SELECT key FROM items WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?')
  const forget = db.prepare('DELETE FROM items WHERE key > ? AND key <= ? AND expires_at <= ?')
  const forgetRest = db.prepare('DELETE FROM items WHERE key > ? AND expires_at <= ?')
  const putKept = (key: Key, { value, expiresAt, index }: Kept) =>
    void put.run(key, value, expiresAt ?? null, index ?? null)
  return {
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    rollback: () => void rollback.run(),
    get: (key, now) => textOf(get.get(key, now), 'value'),
    put: putKept,
    change: (key, kept) => {
      const { value, expiresAt, index } = kept
      const { changes } = change.run(value, expiresAt ?? null, key, index ?? null)
      if (changes === 0) putKept(key, kept)
    },
    remove: (key) => void remove.run(key),
    append: ({ stream, entry }) => void append.run(stream, entry),
    entries: (stream, after, limit) => entries.all(stream, after, limit).map(toEntry),
    trim: (stream, before, limit) => trim.run(stream, before, limit).changes,
    range: (index, after, limit, now) => range.all(index, after, now, limit).map(toItem),
    scan: (after, limit, now) => scan.all(after, now, limit).map(toItem),
    keyBeyond: (after, distance) => textOf(keyBeyond.get(after, distance - 1), 'key'),
    forget: (after, last, now) =>
      void (last === undefined ? forgetRest.run(after, now) : forget.run(after, last, now)),
  }
}

const LIVE = '(expires_at IS NULL OR expires_at > ?)'

const ENTRIES = `SELECT position, entry FROM entries
  WHERE stream = ? AND position > ? ORDER BY position LIMIT ?`

const TRIM = `DELETE FROM entries WHERE position IN
  (SELECT position FROM entries WHERE stream = ? AND position < ? ORDER BY position LIMIT ?)`

const RANGE = `SELECT key, value FROM items
  WHERE listed_in = ? AND key > ? AND ${LIVE} ORDER BY key LIMIT ?`

const SCAN = `SELECT key, value FROM items WHERE key > ? AND ${LIVE} ORDER BY key LIMIT ?`

const toItem = (row: unknown): Item => ({ key: column(row, 'key'), value: column(row, 'value') })

function toEntry(row: unknown): Entry {
  const position: unknown = isRow(row) ? row['position'] : undefined
  assert(typeof position === 'number', 'an entry has a position')
  return { position, entry: column(row, 'entry') }
}

const textOf = (row: unknown, name: string): string | undefined =>
  row === undefined ? undefined : column(row, name)

function column(row: unknown, name: string): string {
  const value: unknown = isRow(row) ? row[name] : undefined
  assert(typeof value === 'string', `the column ${name} holds text`)
  return value
}

const isRow = (row: unknown): row is Readonly<Record<string, unknown>> =>
  typeof row === 'object' && row !== null
