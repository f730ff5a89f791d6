/** What a plan owes: what was charged in a window that it had no money for. Later grants pay it, reversals forgive it. */
import type { BudgetState } from '../../core/budget.ts'
import type { Instant } from '../../core/time.ts'
import { minAmount } from '../amount.ts'
import type { Party } from '../flow/balances.ts'
import type { PayerView } from '../flow/step.ts'
import {
  NOTHING_SAVED,
  type PlanAllowance,
  type PlanCharged,
  readAllowance,
  roomIn,
  type SavedAllowance,
  saveAllowance,
} from './allowance.ts'
import { drawFrom, sumOf } from './funds.ts'
import { payingPlan } from './resolve.ts'

/** Pays from grants what is owed in this window. */
export const payOwed = (
  allowance: PlanAllowance,
  state: BudgetState,
  now: Instant,
): Omit<PlanCharged, 'owed'> => {
  const { terms, funds } = allowance
  const room = roomIn(allowance, state, now)
  const due = room === 'unlimited' ? 0n : minAmount(terms.owed, -room)
  const { grants, draws } = drawFrom(funds.grants, due, now)
  if (draws.length === 0) return { allowance, draws }
  const drawn = sumOf(draws)
  const granted = { ...terms.granted, spent: terms.granted.spent + drawn }
  return {
    allowance: {
      ...allowance,
      terms: { ...terms, granted, owed: terms.owed - drawn },
      funds: { ...funds, grants },
    },
    draws,
  }
}

interface Forgiven {
  readonly allowance: PlanAllowance | undefined
  readonly forgiven: bigint
  readonly saved: SavedAllowance
}

/** What is taken back is not owed any more: no grant pays it. */
export const forgiveOwed = (
  view: PayerView,
  party: Party,
  window: Instant,
  amount: bigint,
): Forgiven => {
  const plan = payingPlan(view, party)
  const before = plan && readAllowance(view, plan, window)
  const forgiven = minAmount(amount, before?.terms.owed ?? 0n)
  if (before === undefined || forgiven === 0n) {
    return { allowance: before, forgiven, saved: NOTHING_SAVED }
  }
  const { terms } = before
  const allowance = { ...before, terms: { ...terms, owed: terms.owed - forgiven } }
  return { allowance, forgiven, saved: saveAllowance(view, before, allowance) }
}
