/** The SQL of the store, prepared once for a connection, with typed rows. */
import { assert } from '../../core/errors.ts'
import { listedName } from '../../core/names.ts'
import type { Entry, Item, KeptItem, Key, StreamHead, Value } from '../../core/store.ts'
import { type Instant, instant, type Span } from '../../core/time.ts'
import type { Database } from './driver.ts'

/** What is kept under a key. */
interface KeptValue {
  readonly value: Value
  readonly expiresAt: number | undefined
  /** How long the file must have lived before this may be forgotten. */
  readonly keptUntil: number | undefined
}

/** How long the file had lived when the machine had run for so long. */
interface LivedRecord {
  readonly lived: number
  readonly uptime: number
}

/** What every group of calls must know of the file. */
export interface FileState extends LivedRecord {
  /** The newest of all entries: the next one is beyond it, in whichever stream. */
  readonly lastPosition: number
  /** Why no more calls are taken. */
  readonly fence: string | undefined
}

export interface Statements {
  /** For a group that may write: nobody else writes until it ends. */
  begin(): void
  /** For a group that only looks: takes no lock that a writer would wait for, and waits for none. */
  beginLook(): void
  commit(): void
  rollback(): void
  get(key: Key): Value | undefined
  put(key: Key, kept: KeptValue): void
  /** Writes over a key that was found. */
  change(key: Key, kept: KeptValue): void
  remove(key: Key): void
  append(stream: string, { position, entry }: Entry): void
  /** Once more is as once. */
  restoreEntry(stream: string, { position, entry }: Entry): void
  recordLast(position: number): void
  /** Of a stream whose last entry is not there to tell it. */
  recordHead({ stream, last }: StreamHead): void
  entries(stream: string, after: number, limit: number): Entry[]
  /** Forgets at most `limit` entries; answers how many. */
  trim(stream: string, before: number, limit: number): number
  range(index: string, after: Key, limit: number): Item[]
  scan(after: Key, limit: number): KeptItem[]
  streams(after: string, limit: number): StreamHead[]
  countKeys(): number
  /** The key `distance` places beyond `after`. */
  keyBeyond(after: Key, distance: number): Key | undefined
  /** Forgets the expired among the keys beyond `after` up to `last`; without `last`, to the end. */
  forget(after: Key, last: Key | undefined, now: Instant, lived: Span): void
  state(): FileState
  recordLived(record: LivedRecord): void
  recordFence(why: string | undefined): void
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
  const append = db.prepare('INSERT INTO entries (stream, position, entry) VALUES (?, ?, ?)')
  const entries = db.prepare(ENTRIES)
  const trim = db.prepare(TRIM)
  const keepHead = db.prepare(KEEP_HEAD)
  const range = db.prepare(RANGE)
  const scan = db.prepare(SCAN)
  const streams = db.prepare(STREAMS)
  const countKeys = db.prepare('SELECT count(*) AS keys FROM items')
  const restoreEntry = db.prepare(
    'INSERT OR IGNORE INTO entries (stream, position, entry) VALUES (?, ?, ?)',
  )
  const recordHead = db.prepare(`INSERT INTO heads VALUES (?, ?) ${LATER_HEAD}`)
  const recordLast = db.prepare('UPDATE lived SET last_position = ?')
  const keyBeyond = db.prepare('SELECT key FROM items WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?')
  const forget = db.prepare(`DELETE FROM items WHERE key > ? AND key <= ? AND ${FORGETTABLE}`)
  const forgetRest = db.prepare(`DELETE FROM items WHERE key > ? AND ${FORGETTABLE}`)
  const state = db.prepare('SELECT lived, uptime, last_position, fence FROM lived')
  const recordLived = db.prepare('UPDATE lived SET lived = ?, uptime = ?')
  const recordFence = db.prepare('UPDATE lived SET fence = ?')
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
    append: (stream, { position, entry }) => void append.run(stream, position, entry),
    restoreEntry: (stream, { position, entry }) => void restoreEntry.run(stream, position, entry),
    recordLast: (position) => void recordLast.run(position),
    recordHead: ({ stream, last }) => void recordHead.run(stream, last),
    entries: (stream, after, limit) => entries.all(stream, after, limit).map(toEntry),
    trim: (stream, before, limit) => {
      keepHead.run(stream, stream)
      return Number(trim.run(stream, stream, before, limit).changes)
    },
    range: (index, after, limit) => {
      // No index has such a name; a key may.
      if (index.includes('#')) return []
      const [first, beyond] = [listedName(index, ''), `${index}${BEYOND_LISTED}`]
      return range.all(justBeyond(after), first, beyond, limit).map(toItem)
    },
    scan: (after, limit) => scan.all(after, limit).map(toKeptItem),
    streams: (after, limit) => streams.all(after, after, limit).map(toStreamHead),
    countKeys: () => numberIn(countKeys.get(), 'keys'),
    keyBeyond: (after, distance) => textOf(keyBeyond.get(after, distance - 1), 'key'),
    forget: (after, last, now, lived) =>
      void (last === undefined
        ? forgetRest.run(after, now, lived)
        : forget.run(after, last, now, lived)),
    state: () => toState(state.get()),
    recordLived: (record) => void recordLived.run(record.lived, record.uptime),
    recordFence: (why) => void recordFence.run(why ?? null),
  }
}

/** Expired by the clock, and kept as long in real time: the clock may have leapt. */
const FORGETTABLE = 'expires_at <= ? AND kept_until <= ?'

const ENTRIES = `SELECT position, entry FROM entries
  WHERE stream = ? AND position > ? ORDER BY position LIMIT ?`

const TRIM = `DELETE FROM entries WHERE stream = ? AND position IN
  (SELECT position FROM entries WHERE stream = ? AND position < ? ORDER BY position LIMIT ?)`

/** What an index lists has its name and `#` before it: neighbours in the order of keys, so they need no list. */
const RANGE = `SELECT key, value FROM items
  WHERE key >= max(?, ?) AND key < ? ORDER BY key LIMIT ?`

/** The character after `#`. */
const BEYOND_LISTED = '$'

/** The first text beyond a key: no key holds NUL. */
const justBeyond = (key: Key): string => (key === '' ? '' : `${key}\u0001`)

const SCAN = 'SELECT key, value, expires_at FROM items WHERE key > ? ORDER BY key LIMIT ?'

const LATER_HEAD = 'ON CONFLICT (stream) DO UPDATE SET last = max(last, excluded.last)'

/** Trimming is rare: so that appending need not, it keeps what the entries would have told. */
const KEEP_HEAD = `INSERT INTO heads SELECT ?, max(position) FROM entries WHERE stream = ?
  GROUP BY stream ${LATER_HEAD}`

const nextAfter = (stream: string): string => `(SELECT min(stream) FROM (
    SELECT min(stream) AS stream FROM entries WHERE stream > ${stream}
    UNION ALL SELECT min(stream) FROM heads WHERE stream > ${stream}))`

/** From one stream to the next, whatever each holds. */
const STREAMS = `WITH RECURSIVE names(stream) AS (
    SELECT ${nextAfter('?')}
    UNION ALL
    SELECT ${nextAfter('names.stream')} FROM names WHERE names.stream IS NOT NULL
  )
  SELECT stream, max(
    coalesce((SELECT max(position) FROM entries WHERE stream = names.stream), 0),
    coalesce((SELECT last FROM heads WHERE stream = names.stream), 0)) AS last
  FROM names WHERE stream IS NOT NULL LIMIT ?`

const toItem = (row: unknown): Item => ({ key: column(row, 'key'), value: column(row, 'value') })

function toKeptItem(row: unknown): KeptItem {
  const expiresAt: unknown = isRow(row) ? row['expires_at'] : undefined
  return { ...toItem(row), ...(typeof expiresAt === 'number' && { expiresAt: instant(expiresAt) }) }
}

const toEntry = (row: unknown): Entry => ({
  position: numberIn(row, 'position'),
  entry: column(row, 'entry'),
})

const toStreamHead = (row: unknown): StreamHead => ({
  stream: column(row, 'stream'),
  last: numberIn(row, 'last'),
})

function toState(row: unknown): FileState {
  assert(isRow(row), 'a file records how long it has lived')
  const fence: unknown = row['fence']
  return {
    lived: Number(row['lived']),
    uptime: Number(row['uptime']),
    lastPosition: Number(row['last_position']),
    fence: typeof fence === 'string' ? fence : undefined,
  }
}

function numberIn(row: unknown, name: string): number {
  const value: unknown = isRow(row) ? row[name] : undefined
  assert(typeof value === 'number', `the column ${name} holds a number`)
  return value
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
