/** Booking: what has been spent goes onto every account of its party, whatever the limits say. */
import type { Write } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import { drawFor, type PlanAllowance, readAllowance } from './allowance.ts'
import { type Standings, standingsAfter } from './answer.ts'
import type { SpendingWindow } from './calendar.ts'
import type { Context } from './context.ts'
import type { Draw } from './entry.ts'
import { nodesOf, type Party, planNode } from './party.ts'
import type { Plan } from './plan.ts'
import { planById } from './resolve.ts'
import { readSheet, shift, writeSheet } from './sheet.ts'

export interface Booking {
  readonly party: Party
  readonly window: SpendingWindow
  readonly spent: bigint
  /** The part of a hold that ends with it. */
  readonly freed: bigint
  readonly expiresAt?: Instant | undefined
}

export interface Booked {
  readonly writes: readonly Write[]
  readonly draws: readonly Draw[]
  readonly standings: Standings
}

export const book = (context: Context, booking: Booking): Booked => {
  const { party, window } = booking
  const { startsAt } = window
  const shifted = shift(readSheet(context, startsAt, nodesOf(party)), booking, context.view.now)
  const plan = payingPlan(context, party)
  const allowance = plan === undefined ? undefined : readAllowance(context, plan, startsAt)
  const drawn = drawsOf(context, plan, allowance, startsAt, shifted)
  return {
    writes: [...writeSheet(context, startsAt, shifted), ...drawn.writes],
    draws: drawn.draws,
    standings: standingsAfter(context, plan, allowance, window, shifted),
  }
}

/** A plan that is gone by now still counts as it did: what it spent does not go with it. */
function payingPlan(context: Context, { plan: id, tier }: Party): Plan | undefined {
  if (id === undefined || tier === undefined) return undefined
  return planById(context, id) ?? { id, tier, active: false, source: 'file' }
}

function drawsOf(
  context: Context,
  plan: Plan | undefined,
  allowance: PlanAllowance | undefined,
  window: Instant,
  sheet: ReturnType<typeof shift>,
) {
  if (plan === undefined || allowance === undefined) return NOTHING
  const spent = sheet.get(planNode(plan.id))?.spent ?? 0n
  return drawFor(context, plan.id, window, allowance, spent)
}

const NOTHING = { writes: [], draws: [] }
