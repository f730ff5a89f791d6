/** What spending answers: whether, why not, who binds, what is left, and when to try again. */
import { type BudgetState, NOTHING_SPENT, totalHeld } from '../core/budget.ts'
import type { Instant, Wait } from '../core/time.ts'
import type { PlanAllowance } from './allowance.ts'
import type { SpendingWindow } from './calendar.ts'
import type { Context } from './context.ts'
import { planNode, TOTAL } from './party.ts'
import type { Allowance, Plan, Tier } from './plan.ts'
import type { SpendingReason } from './reason.ts'
import type { Sheet } from './sheet.ts'

export interface Standing {
  readonly limit: Allowance
  readonly spent: bigint
  readonly held: bigint
  /** Below zero where more was recorded than there was. */
  readonly remaining: Allowance
}

export interface PlanStanding extends Standing {
  readonly id: string
  readonly tier: Tier
  /** Nothing was charged to it in this window yet. */
  readonly fresh: boolean
}

/** What every answer shows. Nothing of it is known while the store is down. */
export interface Standings {
  /** Null where no plan was asked: spending is off, nobody was named, or an earlier node refused. */
  readonly plan: PlanStanding | null
  readonly total: Standing | null
  readonly window: SpendingWindow | null
}

export interface SpendingAnswer extends Standings {
  readonly allowed: boolean
  readonly reason: SpendingReason | null
  /** The first node on the path that does not cover the estimate. */
  readonly node: string | null
  readonly retryIn: Wait
  /** Names the hold to capture, settle or release; only a hold that was granted has one. */
  readonly holdId?: string
  /** When the hold ends by itself. */
  readonly expiresAt?: Instant
  /** This operation id was answered before; this is the answer it got. */
  readonly duplicate?: true
}

export interface BookingAnswer extends Standings {
  /** What this call charged. */
  readonly charged: bigint
  /** The hold had expired; what was charged is booked in its window all the same. */
  readonly late: boolean
  /** How much of it was more than was held. */
  readonly overage: bigint
  /** What this call gave back of the hold. */
  readonly released: bigint
  readonly duplicate?: true
}

export const totalStanding = (context: Context, sheet: Sheet): Standing =>
  standing(context.settings.total, context.settings.total, sheet.get(TOTAL), context.view.now)

export const planStanding = (
  { view }: Context,
  { id, tier }: Plan,
  { limit, amount }: PlanAllowance,
  sheet: Sheet,
  fresh: boolean,
): PlanStanding => ({
  id,
  tier,
  ...standing(limit, amount, sheet.get(planNode(id)), view.now),
  fresh,
})

/** As a booking leaves them. What it drew from grants moved within the allowance, which stays the same. */
export const standingsAfter = (
  context: Context,
  plan: Plan | undefined,
  allowance: PlanAllowance | undefined,
  window: SpendingWindow,
  sheet: Sheet,
): Standings => ({
  plan:
    plan === undefined || allowance === undefined
      ? null
      : planStanding(context, plan, allowance, sheet, false),
  total: totalStanding(context, sheet),
  window,
})

function standing(
  limit: Allowance,
  amount: Allowance,
  state: BudgetState = NOTHING_SPENT,
  now: Instant,
): Standing {
  const { spent } = state
  const held = totalHeld(state, now)
  const remaining = amount === 'unlimited' ? amount : amount - spent - held
  return { limit, spent, held, remaining }
}
