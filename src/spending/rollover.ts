/** Rollover: allowance that a plan left unused moves into its next window, up to a share of the limit. */
import type { Context } from './context.ts'
import { NO_EXTRA, readExtra } from './extra.ts'
import { least, most } from './least.ts'
import { mistake } from './mistake.ts'
import { planNode } from './party.ts'
import type { Allowance, Plan } from './plan.ts'
import { heldIn, readSheet } from './sheet.ts'

/**
 * Into the current window. An idle window leaves everything unused; of an implicit plan without
 * state nobody knows whether it existed, and a new user brings nothing along.
 */
export const carriedInto = (context: Context, plan: Plan, limit: Allowance): bigint => {
  const { calendar, settings, view } = context
  const { previous, window } = calendar
  if (settings.rollover === undefined || previous === undefined || limit === 'unlimited') return 0n
  if (plan.createdAt !== undefined && plan.createdAt >= window.startsAt) return 0n
  const cap = (limit * BigInt(checkShare(settings.rollover.sharePerMille))) / 1_000n
  const idle = plan.source === 'implicit' ? 0n : cap
  if (previous.endsAt !== window.startsAt) return idle
  const node = planNode(plan.id)
  const state = readSheet(context, previous.startsAt, [node]).get(node)
  if (state === undefined) return idle
  const { carried, drawn } = readExtra(context, previous.startsAt, plan.id) ?? NO_EXTRA
  const unused = limit + carried + drawn - state.spent - heldIn(state, view.now)
  return most(0n, least(unused, cap))
}

function checkShare(share: number): number {
  if (Number.isInteger(share) && share >= 0 && share <= 1_000) return share
  const rule = 'must be a whole number of per mille, from 0 to 1000'
  throw mistake('ROLLOVER_INVALID', 'rollover share', rule, String(share))
}
