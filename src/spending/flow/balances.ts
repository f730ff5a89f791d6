/** The budgets that one charge passes, and their balances: read, changed and written together. */
import {
  type BudgetState,
  decodeBudget,
  encodeBudget,
  endHold,
  holdExpiry,
  NOTHING_SPENT,
  openAt,
  totalHeld,
} from '../../core/budget.ts'
import type { Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { maxAmount } from '../amount.ts'
import { implicitPlanId, OUTFLOW } from '../keys.ts'
import type { Tier } from '../plans/plan.ts'
import type { Standing } from './answer.ts'
import { type CanonicalMatter, familyOf } from './ask.ts'
import type { PayerView } from './step.ts'

/** Whose money moves, and for what: it decides which budgets a charge passes. */
export interface Party extends CanonicalMatter {
  readonly plan?: string | undefined
  readonly tier?: Tier | undefined
  /** The canonical address, whichever plan pays for it. */
  readonly member?: string | undefined
  /** The address or /64 under the ceiling; absent where no ceiling could apply. */
  readonly ip?: string | undefined
}

export const TOTAL = 'total'

export const operationBudget = (operation: string): string => `operation/${operation}`
export const planBudget = (plan: string): string => `plan/${plan}`
/** The operation first: it has no slash, and a plan's id may. */
export const planOperationBudget = (plan: string, operation: string): string =>
  `plan-operation/${operation}/${plan}`
export const ipBudget = (ip: string): string => `ip/${ip}`

/** The budgets that may have a limit: a hold is entered in each of them. */
export const limitedBudgetsOf = ({ plan, ip, operation }: Party): string[] => {
  const budgets = [TOTAL, OUTFLOW, operationBudget(operation)]
  if (plan !== undefined) budgets.push(planBudget(plan), planOperationBudget(plan, operation))
  if (ip !== undefined) budgets.push(ipBudget(ip))
  return budgets
}

/**
 * Every budget of a charge. The number does not depend on how many plans there are. Those that
 * never have a limit only count what was spent: a hold there would be written and never asked for.
 * The member of a plan of its own has no second budget.
 */
export const budgetsOf = (party: Party): readonly string[] => {
  const { plan, member, mode, tier, family, operation } = party
  const budgets = limitedBudgetsOf(party)
  budgets.push(`mode/${mode}`)
  // Reports go by the operation's name; what was told otherwise is counted apart.
  const told = family !== undefined && family !== familyOf(operation)
  if (told) budgets.push(`${FAMILY}${family}/${operation}`)
  if (tier !== undefined) budgets.push(tierBudget(tier))
  const own = member === undefined || plan === implicitPlanId(member)
  if (!own) budgets.push(`member/${member}`)
  return budgets
}

/** What follows is the family and the operation. */
export const FAMILY = 'family/'

export const tierBudget = (tier: Tier): string => `tier/${tier}`

/** How many plans of a tier have spent anything in the window: kept as money is, and asked by no decision. */
export const plansBudget = (tier: Tier): string => `plans/${tier}`

/** Where a party's plan is counted, and the budget that says whether it has spent anything. */
const countOf = ({ plan, tier }: Party) =>
  plan === undefined || tier === undefined
    ? undefined
    : { own: planBudget(plan), plans: plansBudget(tier) }

/** By how much that number changes with what a plan has spent. */
const countShift = (before = 0n, after = 0n): bigint => {
  if (before === 0n) return after > 0n ? 1n : 0n
  return after === 0n ? -1n : 0n
}

/** By budget; undefined where nothing is kept yet. */
export type Balances = ReadonlyMap<string, BudgetState | undefined>

export const readBalances = (
  { read, keys }: PayerView,
  window: Instant,
  budgets: readonly string[],
): Balances => {
  const values = read(...budgets.map((budget) => keys.budget(window, budget)))
  const balances = new Map<string, BudgetState | undefined>()
  budgets.forEach((budget, i) => {
    const value = values[i]
    balances.set(budget, value === undefined ? undefined : decodeBudget(value))
  })
  return balances
}

export const writeBalances = (
  { keys }: PayerView,
  window: Instant,
  balances: ReadonlyMap<string, BudgetState>,
): readonly Write[] => {
  const writes: Write[] = []
  balances.forEach((state, budget) => {
    writes.push({ key: keys.budget(window, budget), value: encodeBudget(state) })
  })
  return writes
}

/** The part of a hold that ends, and what is spent with it. */
interface BalanceShift {
  readonly freed: bigint
  /** When the hold ends by itself; absent where nothing was held. */
  readonly expiresAt?: Instant | undefined
  readonly spent: bigint
}

/** What a charge does to all budgets of a party: one hold's who pays, one capture's for what. */
export interface PartyShift extends BalanceShift {
  readonly party: Party
  /** What was paid for, where it is not what the party's hold was for. */
  readonly paid?: CanonicalMatter | undefined
  /** What the party's own budgets had counted as spent and no longer do. */
  readonly unspent?: bigint | undefined
}

type Payment = Pick<PartyShift, 'party' | 'paid'>

/** Every budget that a charge of the party reads: those that it changes, and where its plan is counted. */
export const budgetsReadBy = (payment: Payment): readonly string[] => {
  const count = countOf(payment.party)
  return count === undefined ? chargedBudgets(payment) : [...chargedBudgets(payment), count.plans]
}

/** Every budget that a charge of the party changes. */
const chargedBudgets = ({ party, paid }: Payment): readonly string[] =>
  paid === undefined
    ? budgetsOf(party)
    : [...new Set([...budgetsOf(party), ...budgetsOf({ ...party, ...sure(paid) })])]

/** By budget: what was held and unspent is the party's own, what is spent is what was paid for. */
export const shiftsOf = (shift: PartyShift): ReadonlyMap<string, BalanceShift> => {
  const { party, paid, freed, expiresAt, spent, unspent = 0n } = shift
  const shifts = new Map<string, BalanceShift>()
  const both = { freed, expiresAt, spent: spent - unspent }
  const own = paid === undefined ? both : { freed, expiresAt, spent: -unspent }
  for (const budget of budgetsOf(party)) shifts.set(budget, own)
  if (paid !== undefined) {
    const other = { freed: 0n, expiresAt, spent }
    for (const budget of budgetsOf({ ...party, ...sure(paid) })) {
      shifts.set(budget, shifts.has(budget) ? both : other)
    }
  }
  // What has left the operator's account does not come back with a correction of the books.
  shifts.set(OUTFLOW, { freed, expiresAt, spent: maxAmount(0n, both.spent) })
  return shifts
}

/** The party's own family is not that of something else. */
const sure = ({ operation, mode, family }: CanonicalMatter) => ({ operation, mode, family })

export const shiftBalances = (
  balances: Balances,
  shift: PartyShift,
  now: Instant,
): ReadonlyMap<string, BudgetState> => {
  const shifted = new Map<string, BudgetState>()
  for (const [budget, change] of shiftsOf(shift)) {
    shifted.set(budget, shiftBalance(balances.get(budget), change, now))
  }
  const count = countOf(shift.party)
  if (count === undefined) return shifted
  const more = countShift(balances.get(count.own)?.spent, shifted.get(count.own)?.spent)
  if (more !== 0n) shifted.set(count.plans, countMore(balances.get(count.plans), more))
  return shifted
}

/** A plan whose tier changed is counted where it first spent, and may be taken from where it last did. */
const countMore = (stored: BudgetState = NOTHING_SPENT, more: bigint): BudgetState => ({
  ...stored,
  spent: maxAmount(0n, stored.spent + more),
})

const shiftBalance = (
  stored: BudgetState = NOTHING_SPENT,
  { freed, expiresAt, spent }: BalanceShift,
  now: Instant,
): BudgetState => {
  const state = openAt(stored, now)
  // What has expired is gone already, and time does not run back, so no other hold has its place.
  const ended = expiresAt === undefined ? state : endHold(state, { expiresAt, amount: freed })
  return { ...ended, spent: ended.spent + spent }
}

/** When a hold ends that should end at `expiresAt`: alike on all accounts, as the most crowded has it. */
export const expiryOn = (
  accounts: Iterable<BudgetState | undefined>,
  expiresAt: Instant,
  now: Instant,
): Instant => {
  let soonest = expiresAt
  for (const stored of accounts) {
    if (stored === undefined) continue
    const entered = holdExpiry(openAt(stored, now), expiresAt, now)
    if (entered < soonest) soonest = entered
  }
  return soonest
}

export const totalStanding = ({ settings, now }: PayerView, balances: Balances): Standing => {
  const { total: limit } = settings
  const sums = sumsOf(balances.get(TOTAL), now)
  const remaining = limit === 'unlimited' ? limit : limit - sums.spent - sums.held
  return { limit, ...sums, remaining }
}

export const sumsOf = (state: BudgetState = NOTHING_SPENT, now: Instant) => ({
  spent: state.spent,
  held: totalHeld(state, now),
})
