/**
 * One plan's entries. The ledger is everyone's, in the order of time; so each entry names the one before
 * it of the same plan, and the newest are found without a look at the others.
 */
import { answer, type Store, type View } from '../../core/store.ts'
import type { PayerView } from '../flow/step.ts'
import type { SpendingKeys } from '../keys.ts'
import { spendingMistake } from '../mistake.ts'
import { canonicalPlanId, requirePlan } from '../plans/resolve.ts'
import { type Compacted, readCompacted } from './checkpoint.ts'
import type { LedgerEntry } from './entry.ts'
import { decodeEntry } from './entry-text.ts'
import { readStream } from './pages.ts'

/** By which end a history begins. */
export type HistoryOrder = 'oldest' | 'newest'

export interface HistoryAsk {
  /** `next` of the page before; absent: from the first. */
  readonly after?: number | undefined
  /** Entries in the page; 100. */
  readonly limit?: number | undefined
  /** `oldest` unless told. */
  readonly order?: HistoryOrder | undefined
}

export interface PlanHistory {
  readonly entries: readonly LedgerEntry[]
  /** Where to go on; undefined at the end. */
  readonly next: number | undefined
}

/** Entries in a page of a plan's history. */
const HISTORY_PAGE = 100

/** Ledger entries looked through for one page, oldest first. */
const MAX_LOOKED_THROUGH = 20_000

interface Sought {
  readonly store: Store
  readonly keys: SpendingKeys
  readonly plan: string
  readonly compacted: Compacted
  readonly limit: number
}

/** PLAN_NOT_FOUND for a plan that neither is nor ever had an entry. */
export const planHistory = async (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
  id: string,
  { after = 0, limit = HISTORY_PAGE, order = 'oldest' }: HistoryAsk,
): Promise<PlanHistory> => {
  const plan = canonicalPlanId(id) ?? id
  const { trail, compacted } = await store.transact((view) => {
    const payer = open(view)
    const [value] = payer.read(keys.trail(plan))
    if (value === undefined) requirePlan(payer, id)
    const compacted = readCompacted(payer, keys)
    // A compaction may have taken the trail, and left entries of operators.
    return answer({ trail: Number(value ?? compacted.through), compacted })
  })
  const sought = { store, keys, plan, compacted, limit }
  return order === 'oldest'
    ? fromOldest(sought, after)
    : fromNewest(sought, after === 0 ? trail : after)
}

/** Entries with numbers beyond `after`. */
async function fromOldest(sought: Sought, after: number): Promise<PlanHistory> {
  const { store, keys, plan, compacted, limit } = sought
  const entries = after < compacted.through ? await archivedOf(sought, (seq) => seq > after) : []
  const overfull = entries[limit - 1]
  if (overfull !== undefined) return { entries: entries.slice(0, limit), next: overfull.seq }
  const from = Math.max(after, compacted.through)
  const start = await seekEntry(sought, from + 1)
  if (start === undefined) return { entries, next: undefined }
  let looked = 0
  for await (const { entry: text } of readStream(store, keys.ledger, start.position - 1)) {
    const entry = decodeEntry(text)
    looked += 1
    if (entry.party?.plan === plan) entries.push(entry)
    const isFull = entries.length >= limit || looked >= MAX_LOOKED_THROUGH
    if (isFull) return { entries, next: entry.seq }
  }
  return { entries, next: undefined }
}

/** Entries with numbers up to `number`, the last one first. */
async function fromNewest(sought: Sought, number: number): Promise<PlanHistory> {
  const { compacted, limit } = sought
  const entries: LedgerEntry[] = []
  let next = number
  let known: Placed | undefined
  while (next > compacted.through) {
    if (entries.length === limit) return { entries, next }
    known = await seekEntry(sought, next, known)
    if (known === undefined)
      return { entries, next: (await isGone(sought, next)) ? next : undefined }
    if (known.entry.party?.plan !== sought.plan) throw wrongPage(sought.plan, next)
    entries.push(known.entry)
    next = known.entry.planPrev ?? compacted.through
  }
  if (next === 0) return { entries, next: undefined }
  const older = (await archivedOf(sought, (seq) => seq <= next)).reverse()
  const room = limit - entries.length
  return { entries: [...entries, ...older.slice(0, room)], next: older[room]?.seq }
}

/** Compacted since this page began: the next one begins with what is left of it. */
async function isGone({ store, keys, compacted }: Sought, number: number): Promise<boolean> {
  const { through } = await store.transact((view) => answer(readCompacted(view, keys)))
  return through > compacted.through && number <= through
}

function wrongPage(plan: string, number: number) {
  const rule = `must be the next of the page before, an entry of plan ${plan}`
  return spendingMistake('HISTORY_ASK_INVALID', 'after', rule, `entry ${number}`)
}

/** What operators did is few: all of it is looked through. */
async function archivedOf(
  { store, keys, plan, compacted }: Sought,
  isSought: (seq: number) => boolean,
): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = []
  if (compacted.archived === 0) return entries
  for await (const { entry: text } of readStream(store, keys.archive)) {
    const entry = decodeEntry(text)
    if (entry.party?.plan === plan && isSought(entry.seq)) entries.push(entry)
  }
  return entries
}

interface Placed {
  readonly position: number
  readonly entry: LedgerEntry
}

/**
 * The entry of a number. Positions grow with numbers, with gaps where other streams of the store took some:
 * without gaps the first look finds it, with gaps each look halves what is left at least.
 */
async function seekEntry(
  { store, keys, compacted }: Sought,
  number: number,
  later?: Placed,
): Promise<Placed | undefined> {
  // The entry lies beyond `low`, and not beyond `high`.
  let low = Math.max(0, compacted.position - 1)
  let high = later === undefined ? undefined : later.position - (later.entry.seq - number)
  let stride = number - compacted.through
  let probe = high === undefined ? low + stride - 1 : high - 1
  for (;;) {
    const [found] = await store.read(keys.ledger, Math.max(low, probe), 1)
    const entry = found && decodeEntry(found.entry)
    if (found !== undefined && entry?.seq === number) return { position: found.position, entry }
    if (found !== undefined && entry !== undefined && entry.seq < number) {
      low = found.position
      stride *= 2
    } else high = Math.max(low, probe)
    if (high !== undefined && low >= high) return undefined
    probe = high === undefined ? low + stride : low + Math.floor((high - low) / 2)
  }
}
