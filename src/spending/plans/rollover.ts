/**
 * Rollover: allowance that a window leaves unused moves into the next one, up to a share of the
 * limit. It is an entry of the ledger, and what it moves is gone from the old window: what is
 * charged there later is taken back.
 */
import { type BudgetState, NOTHING_SPENT, totalHeld } from '../../core/budget.ts'
import type { Value, Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { maxAmount, minAmount } from '../amount.ts'
import { planBudget, readBalances } from '../flow/balances.ts'
import type { PayerView } from '../flow/step.ts'
import type { EntryDraft } from '../ledger/entry.ts'
import { move } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import type { PlanAllowance } from './allowance.ts'
import { decodeTerms, type Funds, NO_TERMS, type Terms, writeTerms } from './funds.ts'
import type { Allowance, Plan } from './plan.ts'

/** What moves into the current window with its first charge. */
export interface Carry {
  readonly amount: bigint
  /** Absent where it comes from a window in which nothing was charged. */
  readonly from?: { readonly window: Instant; readonly terms: Terms } | undefined
  readonly since?: Instant | undefined
}

interface Rolled {
  readonly writes: readonly Write[]
  readonly entries: readonly EntryDraft[]
}

const NOTHING_CARRIED: Carry = { amount: 0n }

/**
 * By the limit of the old window as it was written down there, never by today's alone: a limit that
 * is raised must not raise what was left of the old one. A plan that was charged before and then left
 * a window out has all of it to carry; one that was never charged has nothing.
 */
export const carriedInto = (
  view: PayerView,
  plan: Plan,
  today: Allowance,
  last: Funds['last'],
): Carry => {
  const { calendar, settings, keys, now } = view
  const { previous, window } = calendar
  const share = checkShare(settings.rollover?.sharePerMille ?? 0)
  if (previous === undefined) return NOTHING_CARRIED
  const budget = planBudget(plan.id)
  // Both before either is looked at: a key that is read only if another is there costs a round trip.
  const state = readBalances(view, previous.startsAt, [budget]).get(budget) ?? NOTHING_SPENT
  const [kept] = view.read(keys.terms(previous.startsAt, plan.id))
  if (last === undefined) return NOTHING_CARRIED
  const terms = previous.endsAt === window.startsAt ? termsThen(kept, state, now) : undefined
  // Charged while rollover was off: by which limit is written nowhere, so nothing is known to be left.
  if (terms !== undefined && terms.limit === undefined) return NOTHING_CARRIED
  const limit = terms?.limit ?? last.limit
  if (limit === 'unlimited' || today === 'unlimited') return NOTHING_CARRIED
  const cap = (minAmount(limit, today) * BigInt(share)) / 1_000n
  if (terms === undefined) return { amount: cap }
  const amount = minAmount(cap, maxAmount(0n, unusedOf(limit, terms, state, now)))
  if (amount === 0n) return NOTHING_CARRIED
  const since = terms.since ?? previous.startsAt
  return { amount, since, from: { window: previous.startsAt, terms } }
}

/** Undefined for a window in which nothing was charged. One that was charged without rollover has none written down. */
function termsThen(kept: Value | undefined, state: BudgetState, now: Instant): Terms | undefined {
  if (kept !== undefined) return decodeTerms(kept)
  return state.spent > 0n || totalHeld(state, now) > 0n ? NO_TERMS : undefined
}

function unusedOf(limit: bigint, terms: Terms, state: BudgetState, now: Instant): bigint {
  const { carried, passed, granted } = terms
  const held = totalHeld(state, now) - totalHeld(granted, now)
  return limit + carried - passed - (state.spent - granted.spent) - held
}

/** The entry of what is carried over, and what it leaves in the old window. */
export const carryOver = (
  view: PayerView,
  { plan, window }: PlanAllowance,
  { amount, from, since }: Carry,
): Rolled => {
  if (amount === 0n) return { writes: [], entries: [] }
  const passed = (from?.terms.passed ?? 0n) + amount
  const entry: EntryDraft = {
    kind: 'rollover',
    window,
    party: partyOf(plan),
    moves: move('available', 'carried', amount),
    from: from?.window,
    since,
  }
  return {
    writes:
      from === undefined ? [] : [writeTerms(view, from.window, plan.id, { ...from.terms, passed })],
    entries: [entry],
  }
}

/**
 * What a charge to an old window uses of what that window had carried on, taken back from the
 * newest window that has it. Windows between the two may have had room for it; they are not asked,
 * since their number has no bound.
 */
export const takeBack = (
  view: PayerView,
  allowance: PlanAllowance,
  state: BudgetState,
): Rolled & { readonly terms: Terms } => {
  const { plan, window, limit, terms } = allowance
  const nothing = { terms, writes: [], entries: [] }
  const newer = carriedFrom(view, allowance)
  if (newer === undefined || limit === 'unlimited') return nothing
  const amount = minAmount(terms.passed, -unusedOf(limit, terms, state, view.now))
  if (amount <= 0n) return nothing
  const carried = maxAmount(0n, newer.terms.carried - amount)
  const entry: EntryDraft = {
    kind: 'rollover',
    window: newer.window,
    party: partyOf(plan),
    moves: move('carried', 'available', amount),
    from: window,
  }
  return {
    terms: { ...terms, passed: terms.passed - amount },
    writes: [writeTerms(view, newer.window, plan.id, { ...newer.terms, carried })],
    entries: [entry],
  }
}

/** The newest window that has anything of what this one carried on. */
function carriedFrom({ calendar, keys, read }: PayerView, { plan, window }: PlanAllowance) {
  const { previous, window: current } = calendar
  if (window >= current.startsAt) return undefined
  const newer = [current, previous]
    .map((each) => each?.startsAt)
    .filter((start): start is Instant => start !== undefined && start > window)
  const values = read(...newer.map((start) => keys.terms(start, plan.id)))
  for (const [i, start] of newer.entries()) {
    const value = values[i]
    if (value === undefined) continue
    const terms = decodeTerms(value)
    return terms.since !== undefined && terms.since <= window ? { window: start, terms } : undefined
  }
  return undefined
}

function partyOf({ id, tier }: Plan) {
  return { plan: id, tier, operation: 'Rollover', mode: 'TRANSACTION' } as const
}

function checkShare(share: number): number {
  if (Number.isInteger(share) && share >= 0 && share <= 1_000) return share
  const rule = 'must be a whole number of per mille, from 0 to 1000'
  throw spendingMistake('ROLLOVER_INVALID', 'rollover share', rule, String(share))
}
