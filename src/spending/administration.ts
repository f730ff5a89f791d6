/** What operators do while Headgate runs: plans, links, grants, readings, and windows opened early. */
import type { Instant } from '../core/time.ts'
import { type Note, toAmount } from './ask.ts'
import { type BalanceReading, keepReading } from './balance.ts'
import type { SpendingWindow } from './calendar.ts'
import type { Change, Context } from './context.ts'
import { type GrantAnswer, type GrantAsk, grant } from './grant-step.ts'
import type { Plan } from './plan.ts'
import { createPlan, type LinkAsk, link, type PlanAsk, switchPlan, unlink } from './plans-admin.ts'
import { openWindowEarly } from './turn.ts'

export interface SpendingAdministration {
  /** Opens the next window now, instead of when this one ends. */
  resetWindow(note?: Note): Promise<SpendingWindow>
  /** The operator's balance, read by whoever can. */
  pushBalance(amount: bigint, at?: Instant): Promise<BalanceReading>
  /** Gives one plan more, once. */
  grant(ask: GrantAsk): Promise<GrantAnswer>
  createPlan(ask: PlanAsk): Promise<Plan>
  activatePlan(id: string, note?: Note): Promise<Plan>
  /** From then on it refuses with PLAN_INACTIVE. */
  deactivatePlan(id: string, note?: Note): Promise<Plan>
  link(ask: LinkAsk): Promise<Plan>
  unlink(ask: LinkAsk): Promise<Plan>
}

export const spendingAdministration = (
  change: <R>(step: (context: Context) => Change<R>) => Promise<R>,
  newNonce: () => string,
): SpendingAdministration => ({
  resetWindow: (note = {}) => change((context) => openWindowEarly(context, note)),
  pushBalance: async (amount, at) => {
    const read = toAmount(amount, 'balance')
    return change((context) => keepReading(context, read, at))
  },
  grant: (ask) => {
    const nonce = newNonce()
    return change((context) => grant(context, ask, nonce))
  },
  createPlan: (ask) => change((context) => createPlan(context, ask)),
  activatePlan: (id, note = {}) => change((context) => switchPlan(context, id, true, note)),
  deactivatePlan: (id, note = {}) => change((context) => switchPlan(context, id, false, note)),
  link: (ask) => change((context) => link(context, ask)),
  unlink: (ask) => change((context) => unlink(context, ask)),
})
