/** Giving a plan money beyond its limit: an operator's act, checked, bounded and entered in the ledger. */
import { type BudgetState, NOTHING_SPENT } from '../../core/budget.ts'
import type { Instant } from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { minAmount, parseAmount } from '../amount.ts'
import type { PlanStanding } from '../flow/answer.ts'
import { type Note, toNote } from '../flow/ask.ts'
import { planBudget, readBalances } from '../flow/balances.ts'
import { type PayerView, planGuess, type SpendingAct, type SpendingStep } from '../flow/step.ts'
import { move, someOf } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import {
  type PlanAllowance,
  type PlanCharged,
  planStanding,
  readAllowance,
  roomIn,
  saveAllowance,
} from './allowance.ts'
import { drawFrom, type Grant, inOrderOfUse, stillUseful, sumOf } from './funds.ts'
import { requirePlan } from './resolve.ts'

export interface GrantAsk extends Note {
  readonly plan: string
  readonly amount: bigint
  readonly expiresAt?: Instant | undefined
  /** Lower is used first; 0 by default. */
  readonly priority?: number | undefined
  readonly reason?: string | undefined
}

export interface GrantAnswer {
  readonly grantId: string
  readonly plan: PlanStanding
}

/** All of a plan's grants are read on each of its admissions. */
export const MAX_GRANTS = 64

/** `nonce` is chance, drawn by the caller: a step that runs again must make the same grant. */
export const grantAct = (ask: GrantAsk, nonce: string): SpendingAct<GrantAnswer> => {
  const amount = parseAmount(ask.amount, 'grant')
  const note = toNote(ask)
  const step: SpendingStep<GrantAnswer> = (view) => {
    const { startsAt } = view.calendar.window
    const plan = requirePlan(view, ask.plan)
    const added = toGrant(view, ask, amount, nonce)
    const before = readAllowance(view, plan, startsAt)
    const useful = stillUseful(before.funds.grants, view.now)
    refuseTooMany(plan.id, useful)
    const grants = inOrderOfUse([...useful, added])
    const budget = planBudget(plan.id)
    const balances = readBalances(view, startsAt, [budget])
    const state = balances.get(budget)
    // What was charged before and nobody had is paid out of it at once.
    const { allowance, draws } = payOwed(
      { ...before, funds: { ...before.funds, grants } },
      state ?? NOTHING_SPENT,
      view.now,
    )
    const saved = saveAllowance(view, before, allowance)
    return {
      result: {
        grantId: added.id,
        plan: planStanding(view, allowance, balances, state === undefined),
      },
      writes: saved.writes,
      entries: [
        ...saved.entries,
        {
          kind: 'grant',
          window: startsAt,
          party: { plan: plan.id, tier: plan.tier, operation: 'Grant', mode: 'TRANSACTION' },
          moves: move('issued', 'granted', amount),
          grant: added.id,
          priority: added.priority,
          expiresAt: added.expiresAt,
          note,
          detail: ask.reason,
          draws: someOf(draws),
          limit: saved.limit,
        },
      ],
    }
  }
  return { guess: planGuess(ask.plan), step }
}

function toGrant({ now }: PayerView, ask: GrantAsk, amount: bigint, nonce: string): Grant {
  const { priority = 0, expiresAt } = ask
  const thing = `grant to plan ${ask.plan}`
  if (amount === 0n) throw spendingMistake('GRANT_INVALID', thing, 'must be more than zero', '0')
  if (!Number.isSafeInteger(priority)) {
    const rule = 'must have a whole number as priority'
    throw spendingMistake('GRANT_INVALID', thing, rule, String(priority))
  }
  if (expiresAt !== undefined && expiresAt <= now) {
    throw spendingMistake(
      'GRANT_INVALID',
      thing,
      'must expire in the future',
      toTimestamp(expiresAt),
    )
  }
  return { id: nonce, amount, priority, expiresAt, spent: 0n, held: [] }
}

function refuseTooMany(plan: string, { length }: readonly Grant[]): void {
  if (length < MAX_GRANTS) return
  const rule = `must be at most ${MAX_GRANTS} that can still be used`
  throw spendingMistake('GRANTS_TOO_MANY', `grants of plan ${plan}`, rule, String(length))
}

/** Pays from grants what is owed in this window. */
function payOwed(
  allowance: PlanAllowance,
  state: BudgetState,
  now: Instant,
): Omit<PlanCharged, 'owed'> {
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
