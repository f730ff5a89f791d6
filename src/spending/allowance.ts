/** How much a plan may spend in one window: its limit, what it carried over, and its grants. */
import type { Write } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { SpendingWindow } from './calendar.ts'
import type { Context } from './context.ts'
import type { Draw } from './entry.ts'
import { type Extra, encodeExtra, readExtra } from './extra.ts'
import { draw, encodeGrants, type Grant, leftIn, readGrants } from './grants.ts'
import type { Allowance, Plan, SpendingSettings } from './plan.ts'
import { carriedInto } from './rollover.ts'

export interface PlanAllowance {
  readonly limit: Allowance
  readonly extra: Extra
  readonly grants: readonly Grant[]
  /** All of it together. */
  readonly amount: Allowance
  /** The extra is new and must be written with the first charge. */
  readonly isNew: boolean
}

export const limitOf = ({ tier, limit }: Plan, { tiers }: SpendingSettings): Allowance =>
  limit ?? tiers[tier]

export const readAllowance = (
  context: Context,
  plan: Plan,
  window: SpendingWindow['startsAt'],
): PlanAllowance => {
  const limit = limitOf(plan, context.settings)
  const stored = readExtra(context, window, plan.id)
  const current = window === context.calendar.window.startsAt
  const carried = stored === undefined && current ? carriedInto(context, plan, limit) : 0n
  const extra = stored ?? { carried, drawn: 0n }
  const grants = readGrants(context, plan.id)
  const amount =
    limit === 'unlimited' ? limit : limit + extra.carried + extra.drawn + leftIn(grants)
  const isNew = stored === undefined && context.settings.rollover !== undefined
  return { limit, extra, grants, amount, isNew }
}

/** What spending beyond the limit takes out of grants, and the writes that say so. */
export const drawFor = (
  { keys }: Context,
  plan: string,
  window: Instant,
  { limit, extra, grants, isNew }: PlanAllowance,
  spent: bigint,
): { readonly writes: readonly Write[]; readonly draws: readonly Draw[] } => {
  const needed = limit === 'unlimited' ? 0n : spent - limit - extra.carried - extra.drawn
  const taken = needed > 0n ? draw(grants, needed) : { grants, draws: [] }
  const drawn = taken.draws.reduce((sum, { amount }) => sum + amount, extra.drawn)
  const next = encodeExtra({ carried: extra.carried, drawn })
  return {
    draws: taken.draws,
    writes: [
      ...(isNew || drawn > extra.drawn ? [{ key: keys.extra(window, plan), value: next }] : []),
      ...(taken.draws.length > 0
        ? [{ key: keys.grants(plan), value: encodeGrants(taken.grants) }]
        : []),
    ],
  }
}
