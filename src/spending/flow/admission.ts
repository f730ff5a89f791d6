/** Admission: every budget on the path of a charge is asked at once, for a check or a hold. */
import {
  type BudgetLimit,
  type BudgetState,
  decideBudget,
  NOTHING_SPENT,
  totalHeld,
} from '../../core/budget.ts'
import { allOrNothing, type BatchVerdict } from '../../core/decide.ts'
import type { Mode } from '../../core/limit.ts'
import { after, type Instant, type Span, span, type Wait } from '../../core/time.ts'
import { parseAmount } from '../amount.ts'
import { OUTFLOW } from '../keys.ts'
import type { Draw } from '../ledger/entry.ts'
import { balanceRule } from '../operator/balance.ts'
import {
  type PlanAllowance,
  pinFor,
  planStanding,
  readAllowance,
  remainingOf,
} from '../plans/allowance.ts'
import type { Allowance, Plan } from '../plans/plan.ts'
import { type Resolution, requirePlan, resolvePlan } from '../plans/resolve.ts'
import type { PlanStanding, SpendingAnswer, SpendingReason, Standings } from './answer.ts'
import { type CheckAsk, canonicalPurpose, type Purpose } from './ask.ts'
import {
  type Balances,
  expiryOn,
  ipBudget,
  limitedBudgetsOf,
  operationBudget,
  type Party,
  planBudget,
  planOperationBudget,
  readBalances,
  TOTAL,
  totalStanding,
} from './balances.ts'
import { type PayerView, planGuess, purposeGuess, type SpendingAct, unchanged } from './step.ts'

export const isOff = ({ settings }: PayerView): boolean => settings.total === 0n

/** Off: everything is allowed, and nothing is counted. */
export const offAnswer = ({ calendar }: PayerView): SpendingAnswer => ({
  allowed: true,
  reason: null,
  budget: null,
  retryIn: span(0),
  plan: null,
  total: { limit: 0n, spent: 0n, held: 0n, remaining: 0n },
  window: calendar.window,
})

export interface SpendingAdmission {
  readonly answer: SpendingAnswer
  readonly party: Party
  readonly allowance: PlanAllowance | undefined
  /** The allowance with the hold in it, where it is granted. */
  readonly pinned: PlanAllowance | undefined
  /** What the hold keeps aside in grants. */
  readonly pins: readonly Draw[]
  /** Links that a granted hold writes. */
  readonly newLinks: Resolution['newLinks']
  /** The balances with the hold in them, where it is granted; else none. */
  readonly held: ReadonlyMap<string, BudgetState>
  /** When the hold ends by itself. */
  readonly expiresAt: Instant
}

/** Asks every budget at once; with `holdFor` the estimate is kept aside in each, unless one refuses. */
export const admit = (
  view: PayerView,
  { plan, party, newLinks }: Resolution,
  estimate: bigint,
  holdFor?: Span,
): SpendingAdmission => {
  const { now, calendar } = view
  const balances = readBalances(view, calendar.window.startsAt, limitedBudgetsOf(party))
  const path = pathFor(view, party, plan, balances)
  const names = path.budgets.map(({ name }) => name)
  const { allowance } = path
  const accounts = [...balances.values(), ...accountsOf(allowance)]
  const expiresAt = expiryOn(accounts, after(now, holdFor ?? span(0)), now)
  const mode: Mode = holdFor === undefined || plan?.active === false ? 'check' : 'spend'
  const charges = path.budgets.map(({ name, limit }) => ({
    name,
    mode,
    limit: holdFor === undefined ? limit : { ...limit, holdUntil: expiresAt },
  }))
  const verdict = allOrNothing(
    charges,
    charges.map(({ name, limit }) =>
      decideBudget(limit, balances.get(name), { now, cost: estimate, mode }),
    ),
  )
  const refusal = refusalOf(path, verdict, plan)
  const held = heldBalances(names, verdict)
  const shown = held.size > 0 ? held : balances
  const hold = { amount: held.size > 0 ? estimate : 0n, expiresAt }
  const { allowance: pinned, pins } =
    allowance === undefined
      ? { allowance, pins: [] }
      : pinFor(allowance, balanceOf(allowance.plan, balances), hold, now)
  const answer: SpendingAnswer = {
    allowed: refusal === undefined,
    reason: refusal?.reason ?? null,
    budget: refusal?.budget ?? null,
    retryIn: refusal?.retryIn ?? span(0),
    plan:
      pinned === undefined || refusal?.common === true
        ? null
        : planStanding(view, pinned, shown, isFresh(pinned.plan, balances)),
    total: totalStanding(view, shown),
    window: calendar.window,
  }
  return { answer, party, allowance, pinned, pins, newLinks, held, expiresAt }
}

/** Those beside the balances that a hold is entered in. */
function accountsOf(allowance: PlanAllowance | undefined): readonly BudgetState[] {
  return allowance === undefined ? [] : [allowance.terms.granted, ...allowance.funds.grants]
}

const balanceOf = ({ id }: Plan, balances: Balances): BudgetState =>
  balances.get(planBudget(id)) ?? NOTHING_SPENT

function heldBalances(
  names: readonly string[],
  { kept }: BatchVerdict<BudgetState>,
): ReadonlyMap<string, BudgetState> {
  const held = new Map<string, BudgetState>()
  for (const [i, name] of names.entries()) {
    const state = kept[i]
    if (state !== undefined) held.set(name, state)
  }
  return held
}

/** Nothing was charged to it in this window. */
const isFresh = ({ id }: Plan, balances: Balances): boolean =>
  balances.get(planBudget(id)) === undefined

interface PathRefusal {
  readonly budget: string
  readonly reason: SpendingReason
  readonly retryIn: Wait
  /** By a budget that comes before the plan is asked. */
  readonly common: boolean
}

/** The first that refuses gives the reason; the longest wait of all that refuse is the wait. */
function refusalOf(
  path: Path,
  verdict: BatchVerdict<BudgetState>,
  plan: Plan | undefined,
): PathRefusal | undefined {
  const first = verdict.violated[0] ?? path.budgets.length
  if (plan?.active === false && first >= path.common) {
    return { budget: planBudget(plan.id), reason: 'PLAN_INACTIVE', retryIn: 'never', common: false }
  }
  const refusing: PathBudget | undefined = path.budgets[first]
  if (refusing === undefined) return undefined
  const waits = verdict.violated.map(
    (i) => path.budgets[i]?.retryIn ?? verdict.decisions[i]?.retryIn ?? 'never',
  )
  const { name, reason } = refusing
  return { budget: name, reason, retryIn: waits.reduce(longer), common: first < path.common }
}

function longer(a: Wait, b: Wait): Wait {
  return a === 'never' || (b !== 'never' && a >= b) ? a : b
}

/** One budget that the money passes. */
interface PathBudget {
  readonly name: string
  readonly limit: BudgetLimit
  readonly reason: SpendingReason
  /** Instead of what the limit would say. */
  readonly retryIn?: Wait
}

interface Path {
  /** In the order in which they may refuse. */
  readonly budgets: readonly PathBudget[]
  /** How many of them come before the plan is asked. */
  readonly common: number
  readonly allowance: PlanAllowance | undefined
}

function pathFor(view: PayerView, party: Party, plan: Plan | undefined, balances: Balances): Path {
  const common = commonBudgets(view, party)
  if (plan === undefined) return { budgets: common, common: common.length, allowance: undefined }
  const allowance = readAllowance(view, plan, view.calendar.window.startsAt)
  const own = planBudgets(view, party, allowance, balanceOf(plan, balances))
  return { budgets: [...common, ...own], common: common.length, allowance }
}

/** What every charge passes, whichever plan pays. */
function commonBudgets(view: PayerView, { operation }: Party): readonly PathBudget[] {
  const { total, categories } = view.settings
  const category = categories.get(operation) ?? 'unlimited'
  return [
    { name: TOTAL, limit: windowLimit(view, total), reason: 'TOTAL_BUDGET' },
    { name: OUTFLOW, ...balanceRule(view) },
    {
      name: operationBudget(operation),
      limit: windowLimit(view, category),
      reason: 'CATEGORY_LIMIT',
    },
  ]
}

function planBudgets(
  view: PayerView,
  { operation, ip }: Party,
  allowance: PlanAllowance,
  balance: BudgetState,
): readonly PathBudget[] {
  const { plan } = allowance
  const { ipCeiling = 'unlimited', planCategories } = view.settings
  const category = plan.categories?.get(operation) ?? planCategories?.get(operation)
  const ceiling: readonly PathBudget[] =
    ip === undefined
      ? []
      : [{ name: ipBudget(ip), limit: windowLimit(view, ipCeiling), reason: 'IP_LIMIT' }]
  return [
    ...ceiling,
    {
      name: planOperationBudget(plan.id, operation),
      limit: windowLimit(view, category ?? 'unlimited'),
      reason: 'PLAN_CATEGORY_LIMIT',
    },
    {
      name: planBudget(plan.id),
      limit: windowLimit(view, amountFor(allowance, balance, view.now)),
      reason: 'PLAN_LIMIT',
    },
  ]
}

/** As a limit on the balance: all that is spent and held, and what remains. */
function amountFor(allowance: PlanAllowance, balance: BudgetState, now: Instant): Allowance {
  const remaining = remainingOf(allowance, balance, now)
  if (remaining === 'unlimited') return remaining
  return balance.spent + totalHeld(balance, now) + remaining
}

function windowLimit({ calendar }: PayerView, amount: Allowance): BudgetLimit {
  return { kind: 'budget', amount, endsAt: calendar.window.endsAt }
}

/** Answers as a hold would. Writes nothing and promises nothing about the next call. */
export const checkAct = (ask: CheckAsk): SpendingAct<SpendingAnswer> => {
  const purpose = canonicalPurpose(ask)
  const estimate = parseAmount(ask.estimate ?? 0n, 'estimate')
  return {
    guess: purposeGuess(purpose, limitedBudgetsOf),
    step: (view) =>
      unchanged(
        isOff(view) ? offAnswer(view) : admit(view, resolvePlan(view, purpose), estimate).answer,
      ),
  }
}

/** The standing of a caller's plan and of the payer's total. Asks for nothing and changes nothing. */
export const standingsAct = (purpose: Purpose): SpendingAct<Standings> => {
  const plain = canonicalPurpose(purpose)
  const standings = (view: PayerView): Standings => {
    const { window } = view.calendar
    if (isOff(view)) return { plan: null, total: offAnswer(view).total, window }
    const { plan } = resolvePlan(view, plain)
    const total = totalStanding(view, readBalances(view, window.startsAt, [TOTAL]))
    return { plan: plan === undefined ? null : standingOfPlan(view, plan), total, window }
  }
  const shown = ({ plan }: Party) => [TOTAL, ...(plan === undefined ? [] : [planBudget(plan)])]
  return { guess: purposeGuess(plain, shown), step: (view) => unchanged(standings(view)) }
}

export const planStandingAct = (id: string): SpendingAct<PlanStanding> => ({
  guess: planGuess(id),
  step: (view) => unchanged(standingOfPlan(view, requirePlan(view, id))),
})

function standingOfPlan(view: PayerView, plan: Plan): PlanStanding {
  const { startsAt } = view.calendar.window
  const balances = readBalances(view, startsAt, [planBudget(plan.id)])
  const allowance = readAllowance(view, plan, startsAt)
  return planStanding(view, allowance, balances, isFresh(plan, balances))
}
