/** Money beyond a plan's limit, given and voided: an operator's acts, checked, bounded and entered in the ledger. */
import { NOTHING_SPENT, totalHeld } from '../../core/budget.ts'
import { quote } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'
import { parseAmount } from '../amount.ts'
import type { PlanStanding } from '../flow/answer.ts'
import { type Note, noteText, toNote } from '../flow/ask.ts'
import { type Balances, planBudget, readBalances } from '../flow/balances.ts'
import {
  type PayerView,
  planGuess,
  type SpendingAct,
  type SpendingStep,
  unchanged,
  underOperationId,
  untilOf,
} from '../flow/step.ts'
import type { EntryDraft } from '../ledger/entry.ts'
import { move, someOf } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import { moneyText } from '../money-json.ts'
import { retired } from './administration.ts'
import { type PlanAllowance, planStanding, readAllowance, saveAllowance } from './allowance.ts'
import {
  freeIn,
  type Grant,
  type GrantStanding,
  grantIsOver,
  grantStanding,
  inOrderOfUse,
  newGrant,
  stillUseful,
} from './funds.ts'
import { payOwed } from './owed.ts'
import type { Plan } from './plan.ts'
import { canonicalPlanId, planById, requirePlan } from './resolve.ts'

export interface GrantAsk extends Note {
  readonly plan: string
  readonly amount: bigint
  readonly expiresAt?: Instant | undefined
  /** Lower is used first; 0 by default. */
  readonly priority?: number | undefined
  readonly reason?: string | undefined
  /** The same id again gives nothing more. */
  readonly operationId?: string | undefined
}

interface GrantDone {
  readonly grantId: string
  readonly plan: PlanStanding
  readonly replayed?: true
}

export interface GrantAnswer extends GrantDone {
  /** Of the grant that was given; absent: never. */
  readonly expiresAt?: Instant | undefined
}

export interface VoidAsk extends Note {
  readonly plan: string
  readonly grant: string
  /** For whoever reads the ledger. */
  readonly reason: string
  /** The same id again answers as before. */
  readonly operationId?: string | undefined
}

export interface VoidAnswer extends GrantDone {
  /** What was left of it, and is gone. */
  readonly voided: bigint
  /** What open holds keep aside in it: theirs until they end, and then gone too. */
  readonly pinned: bigint
}

/** All of a plan's grants are read on each of its admissions. */
export const MAX_GRANTS = 64

/** `nonce` is chance, drawn by the caller: a step that runs again must make the same grant. */
export const grantAct = (ask: GrantAsk, nonce: string): SpendingAct<GrantAnswer> => {
  const amount = parseAmount(ask.amount, 'grant')
  const note = toNote(ask)
  const { operationId, priority } = ask
  const reason = noteText('reason', ask.reason)
  // Not when it expires: commands count that from now, and a retry comes later.
  const question = [spelt(ask.plan), amount, priority]
  const once = { verb: 'grant', id: operationId, question } as const
  const step: SpendingStep<GrantAnswer> = (view) => {
    const { startsAt } = view.calendar.window
    const plan = requirePlan(view, ask.plan)
    if (plan.retiredAt !== undefined) throw retired(plan.id)
    const added = newGrant({ ...ask, amount }, nonce, view.now)
    const before = readAllowance(view, plan, startsAt)
    const useful = stillUseful(before.funds.grants, view.now)
    refuseTooMany(plan.id, useful)
    const grants = inOrderOfUse([...useful, added])
    const balances = readBalances(view, startsAt, [planBudget(plan.id)])
    // What was charged before and nobody had is paid out of it at once.
    const { allowance, draws } = payOwed(
      { ...before, funds: { ...before.funds, grants } },
      balances.get(planBudget(plan.id)) ?? NOTHING_SPENT,
      view.now,
    )
    const made = entered(
      view,
      { before, allowance, balances },
      {
        kind: 'grant',
        moves: move('issued', 'granted', amount),
        grant: added.id,
        priority: added.priority,
        expiresAt: added.expiresAt,
        operationId,
        until: untilOf(view, operationId),
        note,
        detail: reason,
        draws: someOf(draws),
      },
    )
    return { ...made, result: { grantId: added.id, expiresAt: added.expiresAt, plan: made.plan } }
  }
  return {
    guess: planGuess(ask.plan, once),
    step: underOperationId(once, step, () => moneyText<GrantAnswer>()),
  }
}

/**
 * Takes back what is left of a grant. What open holds have pinned stays theirs: from now on the grant is
 * as one that has expired, so what they give back of it is forfeited.
 */
export const voidAct = (ask: VoidAsk): SpendingAct<VoidAnswer> => {
  const note = toNote(ask)
  const { operationId } = ask
  const reason = noteText('reason', ask.reason)
  const once = { verb: 'void', id: operationId, question: [spelt(ask.plan), ask.grant] } as const
  const step: SpendingStep<VoidAnswer> = (view) => {
    const { startsAt } = view.calendar.window
    const plan = planOfGrants(view, ask.plan)
    const before = readAllowance(view, plan, startsAt)
    const found = requireGrant(view, plan.id, before, ask.grant)
    const [voided, pinned] = [freeIn(found, view.now), totalHeld(found, view.now)]
    const over: Grant = { ...found, expiresAt: view.now, voided: true }
    const grants = before.funds.grants.map((grant) => (grant === found ? over : grant))
    const allowance = { ...before, funds: { ...before.funds, grants } }
    const balances = readBalances(view, startsAt, [planBudget(plan.id)])
    const made = entered(
      view,
      { before, allowance, balances },
      {
        kind: 'void',
        moves: move('granted', 'forfeited', voided),
        grant: found.id,
        operationId,
        until: untilOf(view, operationId),
        note,
        detail: reason,
      },
    )
    return { ...made, result: { grantId: found.id, voided, pinned, plan: made.plan } }
  }
  return {
    guess: planGuess(ask.plan, once),
    step: underOperationId(once, step, () => moneyText<VoidAnswer>()),
  }
}

interface GrantBooks {
  readonly before: PlanAllowance
  readonly allowance: PlanAllowance
  readonly balances: Balances
}

/** What becomes of a plan's grants, and the entry that says so. */
function entered(
  view: PayerView,
  { before, allowance, balances }: GrantBooks,
  draft: Omit<EntryDraft, 'window' | 'party' | 'limit'>,
) {
  const { plan, window } = before
  const party = { plan: plan.id, tier: plan.tier, operation: 'Grant', mode: 'TRANSACTION' } as const
  const { writes, entries, limit } = saveAllowance(view, before, allowance)
  const fresh = balances.get(planBudget(plan.id)) === undefined
  return {
    plan: planStanding(view, allowance, balances, fresh),
    writes,
    entries: [...entries, { ...draft, window, party, limit }],
  }
}

/** Those of which anything is left or pinned, in the order of use: the ledger has the others. */
export const grantsAct = (id: string): SpendingAct<readonly GrantStanding[]> => ({
  guess: planGuess(id),
  step: (view) => {
    const { calendar, now } = view
    const { funds } = readAllowance(view, planOfGrants(view, id), calendar.window.startsAt)
    return unchanged(stillUseful(funds.grants, now).map((grant) => grantStanding(grant, now)))
  },
})

/** A plan that left the file pays nothing, and keeps its grants: it may come back, and they may be voided. */
function planOfGrants(view: PayerView, id: string): Plan {
  const canonical = spelt(id)
  const plan = planById(view, canonical)
  if (plan !== undefined) return plan
  const [kept] = view.read(view.keys.funds(canonical))
  if (kept === undefined) return requirePlan(view, id)
  return { id: canonical, tier: 'BASIC', active: false, source: 'file' }
}

/** However an address in its name is spelt, it is the same question. */
const spelt = (plan: string): string => canonicalPlanId(plan) ?? plan

function requireGrant(
  { now }: PayerView,
  plan: string,
  { funds }: PlanAllowance,
  id: string,
): Grant {
  const found = stillUseful(funds.grants, now).find((grant) => grant.id === id)
  if (found !== undefined && !grantIsOver(found, now)) return found
  const rule = `must be of a grant to plan ${plan} that can still be used`
  const finding = found === undefined ? 'none' : 'one that has expired or was voided'
  throw spendingMistake('GRANT_NOT_FOUND', `grant ${quote(id)}`, rule, finding)
}

function refuseTooMany(plan: string, { length }: readonly Grant[]): void {
  if (length < MAX_GRANTS) return
  const rule = `must be at most ${MAX_GRANTS} that can still be used`
  throw spendingMistake('GRANTS_TOO_MANY', `grants of plan ${plan}`, rule, String(length))
}
