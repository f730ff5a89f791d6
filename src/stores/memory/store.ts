/**
 * A store in this process's memory: for tests, and for limits that may be forgotten on restart.
 *
 * A step runs at once, and JavaScript lets nothing come between its reads and its writes.
 */
import { StoreError } from '../../core/errors.ts'
import { indexOf } from '../../core/names.ts'
import type {
  Append,
  Entry,
  Intent,
  Item,
  KeptItem,
  Key,
  Moving,
  RestoredStream,
  ScanPage,
  Step,
  Store,
  StreamHead,
  View,
  Write,
} from '../../core/store.ts'
import type { Clock, Instant, Span, Uptime } from '../../core/time.ts'
import { uptime as processUptime, systemClock } from '../../lib/clock.ts'
import {
  checkCommit,
  checkKeys,
  checkName,
  checkPage,
  checkPosition,
  checkRestored,
} from '../bounds.ts'
import { storeFenced } from '../fence.ts'
import { inOrder } from './in-order.ts'

export interface MemoryOptions {
  readonly clock?: Clock
  /** Real time, whatever the clock is set to; the process's own unless told. */
  readonly uptime?: Uptime
}

/**
 * A store in this process: as exact as the others, and forgotten when the process ends.
 *
 * @example
 * import { limiter } from 'headgate'
 * import { memory } from 'headgate/memory'
 *
 * const uploads = limiter({ store: memory(), limits: { Uploads: { atOnce: 2, heldFor: '30s' } } })
 * console.log((await uploads.acquire('Uploads', 'ann')).allowed)
 */
export function memory(options: MemoryOptions = {}): Store {
  const { clock = systemClock, uptime = processUptime } = options
  const values = memoryItems()
  const entries = createStreams()
  let closed = false
  let fence: string | undefined

  const refuseIfClosed = (): void => {
    if (closed) throw new StoreError(CLOSED)
  }

  const refuseChanges = (): void => {
    refuseIfClosed()
    if (fence !== undefined) throw storeFenced(CLOSED.thing, fence)
  }

  const moving: Moving = {
    status: async () => {
      refuseIfClosed()
      return { fence, clocks: [clock()], keys: values.size() }
    },
    fence: async (why) => {
      refuseIfClosed()
      fence = why
    },
    streams: async (_cursor, limit) => {
      checkPage(limit)
      return { streams: entries.heads() }
    },
    restore: async (writes, streams) => {
      refuseIfClosed()
      checkRestored(writes, streams)
      const moment = { now: clock(), lived: uptime() }
      for (const write of writes) values.apply(write, moment)
      for (const stream of streams) entries.restore(stream)
    },
  }

  const read: View['read'] = (...keys) => {
    checkKeys(keys)
    return keys.map(values.get)
  }

  const run = <R>(step: Step<R>, intent: Intent | undefined): R => {
    refuseChanges()
    const now = clock()
    const commit = step({ now, read })
    checkCommit(commit, intent)
    if (commit.writes.length > 0) {
      const moment = { now, lived: uptime() }
      for (const write of commit.writes) values.apply(write, moment)
    }
    for (const append of commit.appends) entries.append(append)
    return commit.result
  }

  return {
    atHand: true,
    // Not `async`: there is nothing to wait for, and the room for it is a tenth of a decision's.
    transact: (step, _guess, intent) => {
      try {
        return Promise.resolve(run(step, intent))
      } catch (error) {
        return Promise.reject(error)
      }
    },
    read: async (stream, after, limit) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(after)
      checkPage(limit)
      return entries.page(stream, after, limit)
    },
    range: async (index, after, limit) => {
      refuseIfClosed()
      checkName('index', index)
      checkPage(limit)
      return values.range(index, after, limit)
    },
    trim: async (stream, before) => {
      refuseChanges()
      checkName('stream', stream)
      checkPosition(before)
      entries.trim(stream, before)
    },
    partition: () => '',
    scan: async (cursor, limit) => {
      refuseIfClosed()
      checkPage(limit)
      return values.scan(cursor, limit)
    },
    close: async () => {
      closed = true
    },
    moving,
  }
}

const CLOSED = {
  code: 'STORE_CLOSED',
  thing: 'the memory store',
  rule: 'takes no calls once closed',
} as const

/**
 * How many keys each write looks at for expiry. Above one, so that a lap ends before as many new
 * keys were written as it looked at; then the expired are at most about half of what is kept.
 */
const LOOKS_PER_WRITE = 2

/** Scans that can go on where they stopped; beyond it, the one that paused longest begins anew. */
const MAX_SCANS = 64

interface KeptWrite {
  readonly write: Write
  /** By the store's uptime; only what expires can be forgotten. */
  readonly until: number
}

/**
 * A scan on its way. A map is walked in the order in which keys came, and those that come meanwhile are
 * walked too. After as many steps as there were keys, all of these are shown: else it might never end.
 */
interface Scan {
  readonly rest: MapIterator<[Key, KeptWrite]>
  left: number
}

/** What the store's clock and its uptime say at one moment. */
interface Moment {
  readonly now: Instant
  readonly lived: Span
}

/** The keys of a memory store. Expired ones are dropped as others are written. */
interface MemoryItems {
  get(key: Key): string | undefined
  apply(write: Write, moment: Moment): void
  /** The first `limit` keys of an index beyond `after`, in byte order. */
  range(index: string, after: Key, limit: number): Item[]
  scan(cursor: string, limit: number): ScanPage
  /** How many keys take up memory, the expired among them. */
  size(): number
}

export function memoryItems(): MemoryItems {
  const kept = new Map<Key, KeptWrite>()
  const lists = new Map<string, Set<Key>>()
  const scans = new Map<string, Scan>()
  let scanned = 0
  let lap = kept.values()

  const drop = (key: Key): void => {
    kept.delete(key)
    const index = indexOf(key)
    if (index === undefined) return
    const list = lists.get(index)
    list?.delete(key)
    if (list?.size === 0) lists.delete(index)
  }

  const put = (write: Write, until: number): void => {
    const { key } = write
    kept.set(key, { write, until })
    const index = indexOf(key)
    if (index === undefined) return
    const list = lists.get(index)
    if (list === undefined) lists.set(index, new Set([key]))
    else list.add(key)
  }

  const sweep = (moment: Moment): void => {
    for (let looks = 0; looks < LOOKS_PER_WRITE; looks++) {
      const next = lap.next()
      if (next.done === true) {
        lap = kept.values()
        return
      }
      if (isForgettable(next.value, moment)) drop(next.value.write.key)
    }
  }

  const itemsOf = (keys: readonly Key[]): Item[] =>
    keys.flatMap((key) => {
      const value = kept.get(key)?.write.value
      return value === undefined ? [] : [{ key, value }]
    })

  return {
    get: (key) => kept.get(key)?.write.value,
    apply: (write, moment) => {
      if (write.value === undefined) drop(write.key)
      else put(write, keptUntil(write, moment))
      sweep(moment)
    },
    size: () => kept.size,
    range: (index, after, limit) => itemsOf(inOrder(lists.get(index) ?? [], after)(limit)),
    scan: (cursor, limit) => {
      const scan = scans.get(cursor) ?? { rest: kept.entries(), left: kept.size }
      scans.delete(cursor)
      const items: KeptItem[] = []
      while (items.length < limit) {
        const next = scan.left > 0 ? scan.rest.next() : END
        if (next.done === true) return { items }
        scan.left -= 1
        const [key, { write }] = next.value
        const { value, expiresAt } = write
        if (value !== undefined) items.push({ key, value, ...(expiresAt && { expiresAt }) })
      }
      if (scans.size >= MAX_SCANS) scans.delete([...scans.keys()][0] ?? '')
      scanned += 1
      scans.set(`${scanned}`, scan)
      return { items, next: `${scanned}` }
    },
  }
}

const END = { done: true } as const

function keptUntil({ expiresAt }: Write, { now, lived }: Moment): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : lived + Math.max(0, expiresAt - now)
}

/** Expired by the clock, and kept as long in real time: the clock may have leapt. */
function isForgettable(
  { write: { expiresAt }, until }: KeptWrite,
  { now, lived }: Moment,
): boolean {
  return expiresAt !== undefined && expiresAt <= now && until <= lived
}

interface Streams {
  append(append: Append): void
  page(stream: string, after: number, limit: number): Entry[]
  trim(stream: string, before: number): void
  heads(): readonly StreamHead[]
  restore(stream: RestoredStream): void
}

function createStreams(): Streams {
  const kept = new Map<string, Entry[]>()
  // Of streams whose last entries are not there to tell it.
  const ends = new Map<string, number>()
  // One count for all streams: a stream trimmed away whole still never sees a position again.
  let last = 0

  const endAt = (stream: string, position: number): void => {
    if (position > (ends.get(stream) ?? 0)) ends.set(stream, position)
  }

  return {
    append: ({ stream, entry }) => {
      last += 1
      const entries = kept.get(stream)
      if (entries === undefined) kept.set(stream, [{ position: last, entry }])
      else entries.push({ position: last, entry })
    },
    page: (stream, after, limit) => {
      const entries = kept.get(stream) ?? []
      const start = firstAt(entries, after + 1)
      return entries.slice(start, start + limit)
    },
    trim: (stream, before) => {
      const entries = kept.get(stream) ?? []
      const rest = entries.slice(firstAt(entries, before))
      endAt(stream, entries.at(-1)?.position ?? 0)
      if (rest.length === 0) kept.delete(stream)
      else kept.set(stream, rest)
    },
    heads: () =>
      [...new Set([...kept.keys(), ...ends.keys()])].map((stream) => ({
        stream,
        last: Math.max(ends.get(stream) ?? 0, kept.get(stream)?.at(-1)?.position ?? 0),
      })),
    restore: ({ stream, entries, last: end }) => {
      const there = kept.get(stream) ?? []
      const newest = there.at(-1)?.position ?? 0
      const more = entries.filter(({ position }) => position > newest)
      if (there.length + more.length > 0) kept.set(stream, [...there, ...more])
      last = Math.max(last, end)
      if (end > (kept.get(stream)?.at(-1)?.position ?? 0)) endAt(stream, end)
    },
  }
}

/** Where the first entry at or beyond a position is, by halving: followers read near the end. */
function firstAt(entries: readonly Entry[], position: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle]
    if (entry !== undefined && entry.position < position) low = middle + 1
    else high = middle
  }
  return low
}
