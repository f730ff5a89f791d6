/** Pages of rates and of their history, for people. Each looks at a bounded part and says where the next begins. */

import { quote } from '../../core/errors.ts'
import { itemOf, listedName } from '../../core/names.ts'
import type { Store } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { refuseSubject } from '../mistake.ts'
import { isLive, type Rate } from './rate.ts'
import {
  changeStream,
  decodeListed,
  decodeRateChange,
  historyStream,
  idTime,
  labelItem,
  listIndex,
  type RateChange,
} from './rate-records.ts'
import { MAX_FORM_BYTES, normalForm } from './subject.ts'

export interface RateQuery {
  /** What the subject, as it was given, begins with. */
  readonly prefix?: string | undefined
  readonly label?: string | undefined
  /** Set at `since` or later, and before `until`. */
  readonly since?: Instant | undefined
  readonly until?: Instant | undefined
  /** The `next` of the page before. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

export interface RatePage {
  readonly rates: readonly Rate[]
  /** Where the next page begins. Absent on the last page; a page may be empty and not the last. */
  readonly next?: string
}

export interface RateHistoryQuery {
  /** In any spelling. */
  readonly subject?: string | undefined
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

export interface RateHistoryEntry extends RateChange {
  readonly position: number
}

export interface RateHistoryPage {
  readonly entries: readonly RateHistoryEntry[]
  readonly next?: number
}

/** An answer is built in memory. */
const MAX_RATES_PAGE = 1_000
const USUAL_PAGE = 100

/** Rates looked at for one page, however few of them match: one list is searched, what else is asked is compared. */
const MAX_LOOKS = 5_000

/** Beyond a page's own, for those that have expired and are still listed. */
const SPARE_LOOKS = 100

/** By label, else by prefix, else by time: a page is one read of the part of that list which is asked for. */
export const queryRates = async (
  store: Store,
  provider: string,
  now: Instant | Promise<Instant>,
  query: RateQuery,
): Promise<RatePage> => {
  const limit = pageOf(query.limit)
  if (query.after !== undefined) checkCursor(query.after)
  const list = listFor(provider, query)
  const looks = list.isExact ? limit + SPARE_LOOKS : MAX_LOOKS
  const after = listedName(list.index, query.after ?? list.begin)
  const [at, page] = await Promise.all([now, store.range(list.index, after, looks)])
  const rates: Rate[] = []
  const items = page.map(({ key, value }) => ({ item: itemOf(key), value }))
  const held = items.filter(({ item }) => list.holds(item))
  for (const { item, value } of held) {
    const rate = decodeListed(value)
    if (isLive(rate, at) && matches(rate, query)) rates.push(rate)
    if (rates.length >= limit) return { rates, next: item }
  }
  const last = held.length < looks ? undefined : held.at(-1)
  return last === undefined ? { rates } : { rates, next: last.item }
}

/** A part of an index of rates. */
interface RateList {
  readonly index: string
  /** All items of the part lie beyond this, and the first that does not belong to it ends it. */
  readonly begin: string
  holds(item: string): boolean
  /** Whether all that it holds matches the query, but for what has expired. */
  readonly isExact: boolean
}

function listFor(provider: string, { label, prefix = '', since, until }: RateQuery): RateList {
  const from = since === undefined ? '' : idTime(since)
  const isEarly = (item: string, start: string) =>
    until === undefined || item < `${start}${idTime(until)}`
  if (label !== undefined) {
    const start = labelItem(label)
    const holds = (item: string) => item.startsWith(start) && isEarly(item, start)
    const index = listIndex(provider, 'label')
    return { index, begin: `${start}${from}`, holds, isExact: prefix === '' }
  }
  if (prefix !== '') {
    const index = listIndex(provider, 'spelled')
    const isExact = since === undefined && until === undefined
    return { index, begin: prefix, holds: (item) => item.startsWith(prefix), isExact }
  }
  const holds = (item: string) => isEarly(item, '')
  return { index: listIndex(provider, 'id'), begin: from, holds, isExact: true }
}

/** Of one subject: from the stream of its own changes. Positions count within the stream that was read. */
export const readRateHistory = async (
  store: Store,
  provider: string,
  { subject, after = 0, limit: asked }: RateHistoryQuery,
): Promise<RateHistoryPage> => {
  const limit = pageOf(asked)
  if (!Number.isSafeInteger(after) || after < 0) {
    const rule = 'must be the next of an earlier page'
    refuseSubject({ code: 'PAGE_INVALID', thing: 'after', rule, finding: String(after) })
  }
  const stream =
    subject === undefined ? changeStream(provider) : historyStream(provider, normalForm(subject))
  const found = await store.read(stream, after, limit)
  const entries = found.map(({ position, entry }) => ({ ...decodeRateChange(entry), position }))
  const last = found.length < limit ? undefined : found.at(-1)
  return last === undefined ? { entries } : { entries, next: last.position }
}

/** A cursor comes from outside and goes into a key. */
function checkCursor(after: string): void {
  if (Buffer.byteLength(after) <= MAX_FORM_BYTES && !/\p{Cc}|\p{Surrogate}/u.test(after)) return
  const rule = 'must be the next of an earlier page'
  refuseSubject({ code: 'PAGE_INVALID', thing: 'after', rule, finding: quote(after) })
}

function matches(rate: Rate, { prefix = '', label, since, until }: RateQuery): boolean {
  if (!rate.subject.startsWith(prefix)) return false
  if (label !== undefined && rate.label !== label) return false
  return (since === undefined || rate.at >= since) && (until === undefined || rate.at < until)
}

function pageOf(limit = USUAL_PAGE): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_RATES_PAGE) return limit
  const rule = `must be a whole number from 1 to ${MAX_RATES_PAGE}`
  return refuseSubject({
    code: 'PAGE_INVALID',
    thing: 'limit',
    rule,
    finding: quote(String(limit)),
  })
}
