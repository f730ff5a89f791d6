/** Pages of rates and of their history, for people: each looks at a bounded part and says where to go on. */
import type { Instant, Store } from '../core/index.ts'
import { changeStream, subjectIndex, subjectKey } from './keys.ts'
import { quote, refuse } from './mistake.ts'
import { normalForm } from './normalise.ts'
import { isLive, type Rate } from './rate.ts'
import { type Change, decodeChange, decodeRates } from './stored.ts'

export interface RateQuery {
  /** What the subject, as it was given, begins with. */
  readonly prefix?: string | undefined
  readonly label?: string | undefined
  /** Set at or after this moment, and before that one. */
  readonly since?: Instant | undefined
  readonly until?: Instant | undefined
  /** The `next` of the page before. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

export interface RatePage {
  readonly rates: readonly Rate[]
  /** Where the next page begins. Absent: this was the last. A page may be empty and not the last. */
  readonly next?: string
}

export interface HistoryQuery {
  /** In any spelling. */
  readonly subject?: string | undefined
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

export interface HistoryEntry extends Change {
  readonly position: number
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[]
  readonly next?: number
}

/** What one page may hold: an answer is built in memory. */
export const MAX_PAGE = 1_000
const USUAL_PAGE = 100

/** The longest normal form of a subject. */
const MAX_CURSOR_BYTES = 1_536

/** What is looked at for one page at most, however little of it fits the question. */
const MAX_LOOKS = 5_000

export const queryRates = async (
  store: Store,
  provider: string,
  now: Instant,
  query: RateQuery,
): Promise<RatePage> => {
  const limit = pageOf(query.limit)
  const start = subjectKey(provider, '')
  if (query.after !== undefined) checkCursor(query.after)
  const items = await store.range(subjectIndex(provider), `${start}${query.after ?? ''}`, MAX_LOOKS)
  const rates: Rate[] = []
  for (const { key, value } of items) {
    rates.push(...decodeRates(value).filter((rate) => isLive(rate, now) && fits(rate, query)))
    // A subject's rates are never divided: a page may run over its limit by one subject's worth.
    if (rates.length >= limit) return { rates, next: key.slice(start.length) }
  }
  const last = items.length < MAX_LOOKS ? undefined : items.at(-1)
  return last === undefined ? { rates } : { rates, next: last.key.slice(start.length) }
}

export const readHistory = async (
  store: Store,
  provider: string,
  { subject, after = 0, limit: asked }: HistoryQuery,
): Promise<HistoryPage> => {
  const limit = pageOf(asked)
  if (!Number.isSafeInteger(after) || after < 0) {
    const rule = 'must be the next of an earlier page'
    refuse({ code: 'PAGE_INVALID', thing: 'after', rule, finding: String(after) })
  }
  const form = subject === undefined ? undefined : normalForm(subject)
  const found = await store.read(changeStream(provider), after, MAX_LOOKS)
  const entries: HistoryEntry[] = []
  for (const { position, entry } of found) {
    const change = decodeChange(entry)
    if (form === undefined || concerns(change, form)) entries.push({ ...change, position })
    if (entries.length >= limit) return { entries, next: position }
  }
  const last = found.length < MAX_LOOKS ? undefined : found.at(-1)
  return last === undefined ? { entries } : { entries, next: last.position }
}

/** It comes back from outside, and goes into a key. */
function checkCursor(after: string): void {
  if (Buffer.byteLength(after) <= MAX_CURSOR_BYTES && !/\p{Cc}|\p{Surrogate}/u.test(after)) return
  const rule = 'must be the next of an earlier page'
  refuse({ code: 'PAGE_INVALID', thing: 'after', rule, finding: quote(after) })
}

function fits(rate: Rate, { prefix = '', label, since, until }: RateQuery): boolean {
  if (!rate.subject.startsWith(prefix)) return false
  if (label !== undefined && rate.label !== label) return false
  return (since === undefined || rate.at >= since) && (until === undefined || rate.at < until)
}

function concerns({ added, removed }: Change, form: string): boolean {
  return [...added, ...removed].some((rate) => normalForm(rate.subject) === form)
}

function pageOf(limit = USUAL_PAGE): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit
  const rule = `must be a whole number from 1 to ${MAX_PAGE}`
  return refuse({ code: 'PAGE_INVALID', thing: 'limit', rule, finding: quote(String(limit)) })
}
