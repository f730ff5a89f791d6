/** The list of open holds, for people: what is kept aside at the moment, for whom, and until when. */
import { itemOf } from '../../core/names.ts'
import { answer, type Item, type Store, type View } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import type { OpenHoldName, SpendingKeys } from '../keys.ts'
import { LEDGER_PAGE } from '../ledger/pages.ts'
import { spendingMistake } from '../mistake.ts'
import { canonicalPlanId, requirePlan } from '../plans/resolve.ts'
import { toMemberName } from './ask.ts'
import type { Party } from './balances.ts'
import { decodeHold, type HoldRecord, holdIdOf } from './hold.ts'
import type { PayerView } from './step.ts'

export interface OpenHoldsAsk {
  /** Only those that this plan pays for. */
  readonly plan?: string | undefined
  /** Only those for this member. */
  readonly member?: string | undefined
  /** `next` of the page before; absent: from the first. */
  readonly after?: string | undefined
  /** Holds in the page; 100. */
  readonly limit?: number | undefined
}

/** A hold that is open: the one that ends first comes first. */
export interface OpenHold extends Pick<HoldRecord, 'amount' | 'open' | 'captured' | 'expiresAt'> {
  readonly holdId: string
  readonly party: Party
  readonly madeAt: Instant
  /** The start of the window that it counts in. */
  readonly window: Instant
}

export interface OpenHolds {
  readonly holds: readonly OpenHold[]
  /** Where to go on; undefined at the end. A page may be empty and still have one. */
  readonly next: string | undefined
}

/** Holds in a page, unless told. */
const HOLDS_PAGE = 100

/** Holds looked through for one page: those of one plan may be few among many. */
const MAX_LOOKED_AT = 10_000

export const listOpenHolds = async (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
  ask: OpenHoldsAsk,
): Promise<OpenHolds> => {
  const limit = pageSize(ask)
  const isSought = soughtBy(ask)
  let place = await startOf(store, keys, open, ask)
  const holds: OpenHold[] = []
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += LEDGER_PAGE) {
    const page = await store.range(keys.openHolds, place, LEDGER_PAGE)
    for (const { key, hold } of await readHolds(store, keys, open, page)) {
      if (holds.length === limit) return { holds, next: itemOf(place) }
      place = key
      if (hold !== undefined && isSought(hold.party)) holds.push(toOpenHold(hold))
    }
    if (page.length < LEDGER_PAGE) return { holds, next: undefined }
  }
  return { holds, next: itemOf(place) }
}

function pageSize({ limit = HOLDS_PAGE }: OpenHoldsAsk): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= LEDGER_PAGE) return limit
  const rule = `must be a whole number from 1 to ${LEDGER_PAGE}`
  throw spendingMistake('HOLDS_ASK_INVALID', 'limit', rule, String(limit))
}

function soughtBy(ask: OpenHoldsAsk): (party: Party) => boolean {
  const plan = ask.plan === undefined ? undefined : (canonicalPlanId(ask.plan) ?? ask.plan)
  const member = ask.member === undefined ? undefined : toMemberName(ask.member)
  return (party) =>
    (plan === undefined || party.plan === plan) && (member === undefined || party.member === member)
}

/** PLAN_NOT_FOUND for a plan that neither is nor ever had an entry, as of a history. */
const startOf = (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
  { plan, after }: OpenHoldsAsk,
): Promise<string> => {
  if (after !== undefined && !PLACE.test(after)) {
    const rule = 'must be the next of the page before'
    throw spendingMistake('HOLDS_ASK_INVALID', 'after', rule, after.slice(0, 64))
  }
  const trail = plan === undefined ? [] : [keys.trail(canonicalPlanId(plan) ?? plan)]
  return store.transact(
    (view) => {
      const payer = open(view)
      const [newest] = payer.read(...trail)
      if (plan !== undefined && newest === undefined) requirePlan(payer, plan)
      // Those that have ended come first, and are passed over.
      const from = after === undefined ? { expiresAt: payer.now, id: '' } : openHoldIn(after)
      return answer(keys.openHold(from))
    },
    [keys.calendar, keys.clock, ...trail],
    'look',
  )
}

/** When a hold ends, and its id. */
const PLACE = /^\d{1,16}\.[\w.-]{1,128}$/

interface ReadHold {
  readonly key: string
  /** Undefined where it has ended by now. */
  readonly hold: HoldRecord | undefined
}

const readHolds = (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
  page: readonly Item[],
): Promise<readonly ReadHold[]> => {
  const ids = page.map(({ key }) => openHoldIn(itemOf(key)).id)
  const names = ids.map((id) => keys.hold(id))
  return store.transact(
    (view) => {
      const { now } = open(view)
      const values = view.read(...names)
      return answer(
        page.map(({ key }, i) => {
          const [id, value] = [ids[i], values[i]]
          const hold = id === undefined || value === undefined ? undefined : decodeHold(id, value)
          const isOpen = hold?.status === 'open' && hold.expiresAt > now
          return { key, hold: isOpen ? hold : undefined }
        }),
      )
    },
    [keys.calendar, ...names],
    'look',
  )
}

function toOpenHold(hold: HoldRecord): OpenHold {
  const { id, party, amount, open, captured, expiresAt, window } = hold
  return {
    holdId: holdIdOf(hold),
    party,
    amount,
    open,
    captured,
    madeAt: holdMadeAt(id),
    expiresAt,
    window: window.startsAt,
  }
}

/** What the list calls a hold. A text that is no such name gives a hold that nobody knows. */
export const openHoldIn = (item: string): OpenHoldName => {
  const end = item.indexOf('.')
  const expiresAt = Number(item.slice(0, Math.max(0, end)))
  const known = Number.isSafeInteger(expiresAt) ? expiresAt : 0
  return { id: item.slice(end + 1), expiresAt: instant(known) }
}

/** When the hold of an id was made: the id says it. The newest time of all for a text that we did not make. */
export const holdMadeAt = (id: string): Instant => {
  const at = Number.parseInt(id.slice(0, Math.max(0, id.indexOf('.'))), 36)
  return instant(Number.isSafeInteger(at) ? at : Number.MAX_SAFE_INTEGER)
}
