/**
 * How much a plan may spend in one window: its limit, what it carried over from the window before,
 * and its grants, which are used last.
 *
 * A window's balance counts everything that the plan spent and holds. What grants pay of it is kept
 * beside it, so that the rest is what the window's own allowance pays.
 */
import {
  type BudgetState,
  endHold,
  NOTHING_SPENT,
  openAt,
  totalHeld,
  withHold,
} from '../../core/budget.ts'
import type { Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { maxAmount } from '../amount.ts'
import type { PlanStanding, Standings } from '../flow/answer.ts'
import { type Balances, planBudget, sumsOf, totalStanding } from '../flow/balances.ts'
import type { PayerView } from '../flow/step.ts'
import type { Draw, EntryDraft } from '../ledger/entry.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import type { SpendingWindow } from '../windows/calendar.ts'
import {
  decodeTerms,
  drawFrom,
  type Funds,
  freeOf,
  NO_FUNDS,
  NO_TERMS,
  pinOn,
  stillUseful,
  sumOf,
  type Terms,
  unpin,
  writeTerms,
} from './funds.ts'
import type { Allowance, Plan, SpendingSettings } from './plan.ts'
import { type Carry, carriedInto, carryOver } from './rollover.ts'

export interface PlanAllowance {
  readonly plan: Plan
  readonly window: Instant
  readonly limit: Allowance
  readonly terms: Terms
  readonly funds: Funds
  /** The limit is not written down yet: the next charge does. */
  readonly unwritten: boolean
  /** What was carried over is not kept yet: the window's first charge writes it. */
  readonly carry?: Carry | undefined
}

const limitOf = ({ tier, limit }: Plan, { tiers }: SpendingSettings): Allowance =>
  limit ?? tiers[tier]

export const readAllowance = (view: PayerView, plan: Plan, window: Instant): PlanAllowance => {
  const { settings, calendar, keys } = view
  const [kept, funded] = view.read(keys.terms(window, plan.id), keys.funds(plan.id))
  const terms = kept === undefined ? NO_TERMS : decodeTerms(kept)
  const funds = funded === undefined ? NO_FUNDS : readMoney<Funds>(funded)
  const today = limitOf(plan, settings)
  const isOver = window !== calendar.window.startsAt
  const limit = isOver ? (terms.limit ?? today) : today
  if (isOver || settings.rollover === undefined) {
    return { plan, window, limit, terms, funds, unwritten: false }
  }
  const unwritten = terms.limit !== today
  if (terms.limit !== undefined) return { plan, window, limit, terms, funds, unwritten }
  const carry = carriedInto(view, plan, today, funds.last)
  const { amount: carried, since } = carry
  return { plan, window, limit, terms: { ...terms, carried, since }, funds, unwritten, carry }
}

/** What the window's own allowance still has. Below zero where more was charged, or the limit was lowered. */
export const roomIn = (
  { limit, terms }: PlanAllowance,
  state: BudgetState,
  now: Instant,
): bigint | 'unlimited' => {
  if (limit === 'unlimited') return limit
  const { carried, passed, granted } = terms
  const spent = state.spent - granted.spent
  const held = totalHeld(state, now) - totalHeld(granted, now)
  return limit + carried - passed - spent - held
}

/**
 * What the plan may still spend. A limit that was lowered below what was spent under the old one
 * takes nothing from grants; what was charged beyond everything does.
 */
export const remainingOf = (
  allowance: PlanAllowance,
  state: BudgetState,
  now: Instant,
): Allowance => {
  const room = roomIn(allowance, state, now)
  if (room === 'unlimited') return room
  const { funds, terms } = allowance
  const free = freeOf(funds.grants, now)
  return free === 0n ? room : free + maxAmount(room, -terms.owed)
}

export const planStanding = (
  { now }: PayerView,
  allowance: PlanAllowance,
  balances: Balances,
  fresh: boolean,
): PlanStanding => {
  const { id, tier } = allowance.plan
  const state = balances.get(planBudget(id)) ?? NOTHING_SPENT
  const remaining = remainingOf(allowance, state, now)
  return { id, tier, limit: allowance.limit, ...sumsOf(state, now), remaining, fresh }
}

/** As a charge leaves them. */
export const standingsAfter = (
  view: PayerView,
  allowance: PlanAllowance | undefined,
  window: SpendingWindow,
  balances: Balances,
): Standings => ({
  plan: allowance === undefined ? null : planStanding(view, allowance, balances, false),
  total: totalStanding(view, balances),
  window,
})

/** Keeps aside in grants what the window's own allowance does not have. */
export const pinFor = (
  allowance: PlanAllowance,
  before: BudgetState,
  hold: { readonly amount: bigint; readonly expiresAt: Instant },
  now: Instant,
): { readonly allowance: PlanAllowance; readonly pins: readonly Draw[] } => {
  const room = roomIn(allowance, before, now)
  if (room === 'unlimited') return { allowance, pins: [] }
  const { terms, funds } = allowance
  const { expiresAt } = hold
  const needed = hold.amount - maxAmount(0n, room)
  const { grants, draws: pins } = pinOn(funds.grants, needed, now, expiresAt)
  if (pins.length === 0) return { allowance, pins }
  const granted = withHold(openAt(terms.granted, now), { expiresAt, amount: sumOf(pins) })
  return {
    allowance: { ...allowance, terms: { ...terms, granted }, funds: { ...funds, grants } },
    pins,
  }
}

/** What a charge does to the pins of its hold, and how much of it no hold had kept aside. */
export interface PlanCharge {
  readonly beyond: bigint
  /** Pins that are spent. */
  readonly taken: readonly Draw[]
  /** Pins that are given back. */
  readonly returned: readonly Draw[]
  /** When the hold ends by itself; absent where nothing was held. */
  readonly expiresAt?: Instant | undefined
}

export interface PlanCharged {
  readonly allowance: PlanAllowance
  /** What grants paid, pinned or not. */
  readonly draws: readonly Draw[]
  /** What nobody had. */
  readonly owed: bigint
}

/** Charges the window's own allowance, then grants. `after` is the plan's balance with the charge in it. */
export const chargePlan = (
  before: PlanAllowance,
  after: BudgetState,
  charge: PlanCharge,
  now: Instant,
): PlanCharged => {
  const allowance = endPins(before, charge, now)
  const { terms, funds } = allowance
  const room = roomIn(allowance, after, now)
  if (room === 'unlimited' || charge.beyond === 0n) {
    return { allowance, draws: charge.taken, owed: 0n }
  }
  // What was carried on can be taken back, so it is room too.
  const had = maxAmount(0n, room + terms.passed + charge.beyond)
  const uncovered = maxAmount(0n, charge.beyond - had)
  const { grants, draws } = drawFrom(funds.grants, uncovered, now)
  const drawn = sumOf(draws)
  const owed = uncovered - drawn
  if (uncovered === 0n) return { allowance, draws: charge.taken, owed }
  const granted = { ...terms.granted, spent: terms.granted.spent + drawn }
  return {
    allowance: {
      ...allowance,
      terms: { ...terms, granted, owed: terms.owed + owed },
      funds: { ...funds, grants },
    },
    draws: [...charge.taken, ...draws],
    owed,
  }
}

function endPins(
  allowance: PlanAllowance,
  { taken, returned, expiresAt }: PlanCharge,
  now: Instant,
): PlanAllowance {
  const amount = sumOf(taken) + sumOf(returned)
  if (expiresAt === undefined || amount === 0n) return allowance
  const { terms, funds } = allowance
  const spent = unpin(funds.grants, taken, { expiresAt, now, spend: true })
  const grants = unpin(spent, returned, { expiresAt, now, spend: false })
  const ended = endHold(openAt(terms.granted, now), { expiresAt, amount })
  const granted = { ...ended, spent: ended.spent + sumOf(taken) }
  return { ...allowance, terms: { ...terms, granted }, funds: { ...funds, grants } }
}

/** What a charge writes of an allowance, and what its entries say of it. */
export interface SavedAllowance {
  readonly writes: readonly Write[]
  /** Before the charge's own. */
  readonly entries: readonly EntryDraft[]
  /** For the charge's own entry. */
  readonly limit?: Allowance | undefined
}

export const saveAllowance = (
  view: PayerView,
  before: PlanAllowance,
  after: PlanAllowance,
): SavedAllowance => {
  const { plan, window, limit, unwritten, carry } = before
  const { terms, funds } = after
  const carried = carry === undefined ? NOTHING_SAVED : carryOver(view, before, carry)
  const writes: Write[] = [...carried.writes]
  if (unwritten) writes.push(writeTerms(view, window, plan.id, { ...terms, limit }))
  else if (terms !== before.terms) writes.push(writeTerms(view, window, plan.id, terms))
  const last = unwritten ? { window, limit } : funds.last
  if (unwritten || funds !== before.funds) {
    const grants = stillUseful(funds.grants, view.now)
    writes.push({ key: view.keys.funds(plan.id), value: writeMoney({ grants, last }) })
  }
  return { writes, entries: carried.entries, limit: unwritten ? limit : undefined }
}

export const NOTHING_SAVED: SavedAllowance = { writes: [], entries: [] }
