/** Granting: one plan gets more, once, until it is used up or expires. Never above the payer's total. */
import type { Instant } from '../core/time.ts'
import { drawFor, readAllowance } from './allowance.ts'
import { type PlanStanding, planStanding } from './answer.ts'
import { type Note, toAmount, toNote } from './ask.ts'
import type { Change, Context } from './context.ts'
import { move } from './entry.ts'
import { encodeGrants, type Grant, MAX_GRANTS, readGrants, usable } from './grants.ts'
import { mistake } from './mistake.ts'
import { planNode } from './party.ts'
import { requirePlan } from './plans-admin.ts'
import { readSheet } from './sheet.ts'
import { toTimestamp } from './timestamp.ts'

export interface GrantAsk extends Note {
  readonly plan: string
  readonly amount: bigint
  readonly expiresAt?: Instant | undefined
  /** Lower is used first; 0 unless told. */
  readonly priority?: number | undefined
  readonly reason?: string | undefined
}

export interface GrantAnswer {
  readonly grantId: string
  readonly plan: PlanStanding
}

export const grant = (context: Context, ask: GrantAsk, nonce: string): Change<GrantAnswer> => {
  const { view, keys, calendar } = context
  const { startsAt } = calendar.window
  const plan = requirePlan(context, ask.plan)
  const added = toGrant(context, ask, nonce)
  const before = readGrants(context, plan.id)
  if (before.length >= MAX_GRANTS) {
    const rule = `must be at most ${MAX_GRANTS} that can still be used`
    throw mistake('GRANTS_TOO_MANY', `grants of plan ${plan.id}`, rule, String(before.length))
  }
  const grants = usable([...before, added], view.now)
  const allowance = readAllowance(context, plan, startsAt)
  const { amount } = allowance
  const raised = {
    ...allowance,
    grants,
    amount: amount === 'unlimited' ? amount : amount + added.amount,
  }
  const sheet = readSheet(context, startsAt, [planNode(plan.id)])
  const state = sheet.get(planNode(plan.id))
  // What was overspent before is taken out of it at once.
  const { writes, draws } = drawFor(context, plan.id, startsAt, raised, state?.spent ?? 0n)
  const kept = { key: keys.grants(plan.id), value: encodeGrants(grants) }
  return {
    result: {
      grantId: added.id,
      plan: planStanding(context, plan, raised, sheet, state === undefined),
    },
    writes: draws.length > 0 ? writes : [...writes, kept],
    entries: [
      {
        kind: 'grant',
        window: startsAt,
        party: { plan: plan.id, tier: plan.tier, operation: 'Grant', mode: 'TRANSACTION' },
        moves: move('issued', 'granted', added.amount),
        grant: added.id,
        note: toNote(ask),
        detail: ask.reason,
        draws: draws.length === 0 ? undefined : draws,
      },
    ],
  }
}

function toGrant({ view }: Context, ask: GrantAsk, nonce: string): Grant {
  const { priority = 0, expiresAt } = ask
  const amount = toAmount(ask.amount, 'grant')
  const thing = `grant to plan ${ask.plan}`
  if (amount === 0n) throw mistake('GRANT_INVALID', thing, 'must be more than zero', '0')
  if (!Number.isSafeInteger(priority)) {
    throw mistake('GRANT_INVALID', thing, 'must have a whole number as priority', String(priority))
  }
  if (expiresAt !== undefined && expiresAt <= view.now) {
    throw mistake('GRANT_INVALID', thing, 'must expire in the future', toTimestamp(expiresAt))
  }
  return { id: nonce, amount, left: amount, priority, expiresAt }
}
