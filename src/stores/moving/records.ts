/** What a store holds, piece by piece, as an export has it on its lines; and what all of it comes to. */
import { hash } from 'node:crypto'
import { listedName, nameOf } from '../../core/names.ts'
import type { Entry, KeptItem, Store } from '../../core/store.ts'

/** Expiries are whole milliseconds, rounded up: all that every store keeps of them. */
export type StoreRecord =
  | {
      readonly kind: 'item'
      readonly key: string
      readonly value: string
      readonly expiry?: number
    }
  /** Its entries follow, in the order of their positions. */
  | { readonly kind: 'stream'; readonly stream: string; readonly last: number }
  | {
      readonly kind: 'entry'
      readonly stream: string
      readonly position: number
      readonly entry: string
    }

/** Where an import keeps how far it came. Not part of what a store holds. */
export const IMPORT_INDEX = nameOf('headgate', 'import')
export const IMPORT_KEY = listedName(IMPORT_INDEX, 'progress')

/** Records read at once: some megabytes at most, as values are. */
const PAGE = 1_000

/** Where in a store its records go on: among its keys or among its streams, by the cursor of the store. */
export interface Spot {
  readonly among: 'keys' | 'streams'
  readonly cursor: string
}

/** What was read before the spot where records go on; for streams, which pages need not list in order. */
export interface ReadBefore {
  readonly spot: Spot
  readonly streams: ReadonlySet<string>
  /** The stream that was being read, and its last entry. */
  readonly open?: { readonly stream: string; readonly after: number }
}

export interface RecordsPage {
  readonly records: readonly StoreRecord[]
  /** Where to go on after these. */
  readonly spot: Spot
}

const START: ReadBefore = { spot: { among: 'keys', cursor: '' }, streams: new Set() }

/** All of a store, page by page. The same record may come twice, as in a scan. */
export async function* recordsOf(
  store: Store,
  { spot, streams, open }: ReadBefore = START,
): AsyncGenerator<RecordsPage> {
  if (spot.among === 'streams') return yield* streamRecordsOf(store, spot, new Set(streams), open)
  let cursor: string | undefined = spot.cursor
  while (cursor !== undefined) {
    const page = await store.scan(cursor, PAGE)
    cursor = page.next
    const records = page.items.filter(({ key }) => key !== IMPORT_KEY).map(itemRecord)
    yield { records, spot: cursor === undefined ? FIRST_STREAM : { among: 'keys', cursor } }
  }
  return yield* streamRecordsOf(store, FIRST_STREAM, new Set(), undefined)
}

const FIRST_STREAM: Spot = { among: 'streams', cursor: '' }

const itemRecord = ({ key, value, expiresAt }: KeptItem): StoreRecord => ({
  kind: 'item',
  key,
  value,
  ...(expiresAt && { expiry: Math.ceil(expiresAt / 1_000) }),
})

async function* streamRecordsOf(
  store: Store,
  from: Spot,
  seen: Set<string>,
  open: ReadBefore['open'],
): AsyncGenerator<RecordsPage> {
  if (open !== undefined) yield* entryRecordsOf(store, open.stream, open.after, from)
  let spot: Spot | undefined = from
  while (spot !== undefined) {
    const here: Spot = spot
    const page = await store.moving?.streams(here.cursor, PAGE)
    for (const { stream, last } of page?.streams ?? []) {
      if (seen.has(stream)) continue
      seen.add(stream)
      yield { records: [{ kind: 'stream', stream, last }], spot: here }
      yield* entryRecordsOf(store, stream, 0, here)
    }
    spot = page?.next === undefined ? undefined : { among: 'streams', cursor: page.next }
  }
}

async function* entryRecordsOf(
  store: Store,
  stream: string,
  after: number,
  spot: Spot,
): AsyncGenerator<RecordsPage> {
  let last: number | undefined = after
  while (last !== undefined) {
    const entries: readonly Entry[] = await store.read(stream, last, PAGE)
    yield { records: entries.map((entry) => ({ kind: 'entry', stream, ...entry })), spot }
    last = entries.length < PAGE ? undefined : entries.at(-1)?.position
  }
}

/** How much there is, and a hash of all of it, in whatever order it came. */
export interface ContentSummary {
  readonly keys: number
  readonly streams: number
  readonly entries: number
  readonly content: string
}

/** How far a move came: in records, and in bytes of a file; `total` is a guess while a store is read. */
export interface MoveProgress {
  readonly doing: 'reading the store' | 'checking the file' | 'filling the store' | 'comparing'
  readonly done: number
  readonly total: number
}

export type OnProgress = (progress: MoveProgress) => void

export interface MoveOutcome extends ContentSummary {
  /** How many records an earlier try had brought. */
  readonly continued: number
}

export const describeSummary = ({ keys, streams, entries, content }: ContentSummary): string =>
  `${keys} keys, ${entries} entries in ${streams} streams, digest ${content.slice(0, 16)}`

export const sameContent = (one: ContentSummary, other: ContentSummary): boolean =>
  one.content === other.content &&
  one.keys === other.keys &&
  one.streams === other.streams &&
  one.entries === other.entries

export interface ContentCount {
  add(record: StoreRecord): void
  summary(): ContentSummary
}

/** 32-bit words of a SHA-256. */
const WORDS = 8

/**
 * The sum of the hashes of all records. A record that comes twice counts once, told by 64 bits of its
 * hash, which takes up to 32 bytes of memory each. Finds what was lost, added or changed by accident; whoever forges a
 * file forges its sum too.
 */
export const countContent = (): ContentCount => {
  const sum = new Uint32Array(WORDS)
  const seen = pairSet()
  const counts = { item: 0, stream: 0, entry: 0 }
  return {
    add: (record) => {
      const digest = hash('sha256', canonical(record), 'buffer')
      if (!seen.add(digest.readUInt32BE(0), digest.readUInt32BE(4))) return
      counts[record.kind] += 1
      for (let word = 0; word < WORDS; word++) {
        sum[word] = (sum[word] ?? 0) + digest.readUInt32BE(word * 4)
      }
    },
    summary: () => ({
      keys: counts.item,
      streams: counts.stream,
      entries: counts.entry,
      content: [...sum].map((word) => word.toString(16).padStart(8, '0')).join(''),
    }),
  }
}

function canonical(record: StoreRecord): string {
  switch (record.kind) {
    case 'item':
      return JSON.stringify(['k', record.key, record.value, record.expiry ?? null])
    case 'stream':
      return JSON.stringify(['s', record.stream, record.last])
    case 'entry':
      return JSON.stringify(['e', record.stream, record.position, record.entry])
    default:
      return record satisfies never
  }
}

/** A set of pairs of 32-bit numbers, of which chance makes none (0, 0): flat, for millions of them. */
function pairSet() {
  let table = new Uint32Array(2 * 1_024)
  let size = 0

  const put = (into: Uint32Array, high: number, low: number): boolean => {
    const mask = into.length / 2 - 1
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      const [h, l] = [into[2 * slot], into[2 * slot + 1]]
      if (h === high && l === low) return false
      if (h !== 0 || l !== 0) continue
      into[2 * slot] = high
      into[2 * slot + 1] = low
      return true
    }
  }

  const grow = (): void => {
    const larger = new Uint32Array(2 * table.length)
    for (let at = 0; at < table.length; at += 2) {
      const [high = 0, low = 0] = [table[at], table[at + 1]]
      if (high !== 0 || low !== 0) put(larger, high, low)
    }
    table = larger
  }

  return {
    /** Whether it was not there yet. */
    add: (high: number, low: number): boolean => {
      if (size * 4 > table.length) grow()
      const added = put(table, high, low)
      if (added) size += 1
      return added
    },
  }
}
