/**
 * What a signer did, for its operator: streams beside the records, one in each shard. An entry is
 * appended in the commit of the act that it tells of; no decision reads it.
 *
 * A page merges the streams by time. Each stream keeps its own order, and a cursor says how far each
 * was read: so pages leave nothing out and show nothing twice, whatever is written, trimmed or set
 * back in between. An entry that lands behind the time of a page that was read before comes in the next.
 */
import { assert, quote } from '../../core/errors.ts'
import { tagOf } from '../../core/names.ts'
import type { Append, Entry, Store, Value } from '../../core/store.ts'
import { type Instant, instant, type Span } from '../../core/time.ts'
import { refuseSecret } from '../mistake.ts'
import { SHARDS, secretName } from './shards.ts'

/** Never a blinded message, a signature, an evaluation or a session id. */
export interface AuditEvent {
  readonly event: 'signed' | 'disabled' | 'clock repaired'
  /** The key of the domain's record, which holds the domain's hash; or that of the clock's. */
  readonly record: string
  readonly keyVersion?: number
  /** By how much an operator accepted that the clock was set; negative: back. */
  readonly correction?: Span
}

export interface AuditEntry extends AuditEvent {
  /** Its shard and its position there, such as `7-12`. Never reused. */
  readonly place: string
  readonly at: Instant
}

export interface AuditPage {
  /** By time, oldest first. */
  readonly entries: readonly AuditEntry[]
  /** The `after` of the next page. Absent: this was the last. */
  readonly next?: string
  /** The `after` by which to come back later, on the last page too. */
  readonly end: string
}

/** Of one shard. */
export const auditStream = (shard: string): string => secretName(shard, 'audit')

/** Into the stream that shares a partition with the record. */
export const audit = (at: Instant, event: AuditEvent): Append => ({
  stream: auditStream(tagOf(event.record)),
  entry: JSON.stringify({ at, ...event }),
})

/** Only `audit` writes the streams, so their entries are not checked again. */
const decodeAudit = (value: Value): Omit<AuditEntry, 'place'> => {
  const { at, ...event }: AuditEvent & { readonly at: number } = JSON.parse(value)
  return { ...event, at: instant(at) }
}

/** When the entry was written. */
export const auditTime = ({ entry }: Entry): Instant => decodeAudit(entry).at

/** `after` is '', or where a page before ended; `limit` is within what a store reads at once. */
export const readAudit = async (store: Store, after: string, limit: number): Promise<AuditPage> => {
  const tails = positionsIn(after).map((position, at) => tailOf(store, SHARDS[at] ?? '', position))
  const entries: AuditEntry[] = []
  // One more than a page tells whether another follows.
  const piece = Math.min(limit + 1, PIECE + Math.ceil(limit / SHARDS.length))
  for (;;) {
    await Promise.all(tails.map((tail) => tail.refill(piece)))
    const oldest = oldestOf(tails)
    const end = tails.map(({ position }) => cursorPart(position())).join(BETWEEN)
    if (oldest === undefined) return { entries, end }
    if (entries.length === limit) return { entries, next: end, end }
    entries.push(oldest.take())
  }
}

/** Read of each shard at once, beside its share of the page: most pages take one read of each, side by side. */
const PIECE = 8

interface Tail {
  /** Of what was taken last, or where it began. */
  position(): number
  /** Reads on, if all that was read was taken and more may follow. */
  refill(piece: number): Promise<void>
  head(): AuditEntry | undefined
  take(): AuditEntry
}

/** One shard's stream from a position on. */
function tailOf(store: Store, shard: string, start: number): Tail {
  let [position, isOver, next]: [number, boolean, number] = [start, false, 0]
  let read: readonly Entry[] = []
  let head: AuditEntry | undefined
  const see = (): void => {
    const entry = read[next]
    head = entry && { place: `${shard}-${entry.position}`, ...decodeAudit(entry.entry) }
  }
  return {
    position: () => position,
    refill: async (piece) => {
      if (next < read.length || isOver) return
      read = await store.read(auditStream(shard), position, piece)
      isOver = read.length < piece
      next = 0
      see()
    },
    head: () => head,
    take: () => {
      const [entry, taken] = [read[next], head]
      assert(entry !== undefined && taken !== undefined, 'a tail with a head')
      position = entry.position
      next += 1
      see()
      return taken
    },
  }
}

/** Of equal times the first shard's. */
function oldestOf(tails: readonly Tail[]): Tail | undefined {
  let [oldest, least]: [Tail | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
  for (const tail of tails) {
    const at = tail.head()?.at
    if (at !== undefined && at < least) [oldest, least] = [tail, at]
  }
  return oldest
}

/** A cursor is the positions of all shards, in base 36, and nothing for one that is at its start. */
const BETWEEN = '.'

const cursorPart = (position: number): string => (position === 0 ? '' : position.toString(36))

/** Whether `readAudit` takes it. */
export const isAuditCursor = (text: string): boolean => parseCursor(text) !== undefined

function parseCursor(text: string): readonly number[] | undefined {
  if (text === '') return SHARDS.map(() => 0)
  const parts = text.split(BETWEEN)
  const positions = parts.map((part) => (part === '' ? 0 : Number.parseInt(part, 36)))
  const isOurs = positions.every(
    (position, at) =>
      Number.isSafeInteger(position) && position >= 0 && cursorPart(position) === parts[at],
  )
  return parts.length === SHARDS.length && isOurs ? positions : undefined
}

function positionsIn(cursor: string): readonly number[] {
  const positions = parseCursor(cursor)
  if (positions !== undefined) return positions
  const rule = 'must be the next or the end of an earlier page'
  const finding = quote(cursor.slice(0, 80))
  return refuseSecret({ code: 'AUDIT_PAGE_INVALID', thing: 'after', rule, finding })
}
