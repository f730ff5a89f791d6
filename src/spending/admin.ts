/** What operators do with spending while Headgate runs, each an entry of the ledger. */
import type { Instant } from '../core/time.ts'
import { parseAmount } from './amount.ts'
import type { ClockRepairAsk, SpendingClockRepair } from './clock-repair.ts'
import type { Note } from './flow/ask.ts'
import { type Reversal, type ReverseAsk, reverseAct } from './flow/reversal.ts'
import { calendarGuess, planGuess, type SpendingAct } from './flow/step.ts'
import { type BalanceReading, readingAct } from './operator/balance.ts'
import {
  changePlan,
  createPlan,
  type PlanAsk,
  type PlanChangeAsk,
  type RetireAsk,
  retirePlan,
  switchPlan,
} from './plans/administration.ts'
import type { GrantStanding } from './plans/funds.ts'
import {
  type GrantAnswer,
  type GrantAsk,
  grantAct,
  grantsAct,
  type VoidAnswer,
  type VoidAsk,
  voidAct,
} from './plans/grants.ts'
import { type LinkAsk, linkAct, unlinkAct } from './plans/links.ts'
import type { Plan } from './plans/plan.ts'
import { openWindowEarly, type SpendingWindow } from './windows/calendar.ts'

/** What operators do while Headgate runs: plans, links, grants, readings, and windows opened early. */
export interface SpendingAdministration {
  /** Takes a booking back, whole or in part, by its operation id: an entry of its own. */
  reverse(ask: ReverseAsk): Promise<Reversal>
  /** Opens the next window now, instead of when this one ends. */
  resetWindow(note?: Note): Promise<SpendingWindow>
  /** An operator's word that the clock is right as it is now; an entry of the ledger where it was not trusted. */
  repairClock(ask?: ClockRepairAsk): Promise<SpendingClockRepair>
  /** The operator's balance, and when it was read; now, if `at` is absent. */
  pushBalance(amount: bigint, at?: Instant): Promise<BalanceReading>
  /** Gives one plan more, once. */
  grant(ask: GrantAsk): Promise<GrantAnswer>
  /** A plan's grants of which anything can still be used, in the order of use. */
  grants(plan: string): Promise<readonly GrantStanding[]>
  /** Takes back what is left of a grant. What open holds have pinned stays theirs until they end. */
  voidGrant(ask: VoidAsk): Promise<VoidAnswer>
  createPlan(ask: PlanAsk): Promise<Plan>
  /** Another tier, limit or name, in force at once. Members come and go by `link` and `unlink`. */
  changePlan(ask: PlanChangeAsk): Promise<Plan>
  /** For good: it pays for nothing new, and its open holds settle. */
  retirePlan(ask: RetireAsk): Promise<Plan>
  activatePlan(id: string, note?: Note): Promise<Plan>
  /** From then on it refuses with PLAN_INACTIVE. */
  deactivatePlan(id: string, note?: Note): Promise<Plan>
  link(ask: LinkAsk): Promise<Plan>
  unlink(ask: LinkAsk): Promise<Plan>
}

/** Runs an act on the store. */
export type Change = <R>(act: SpendingAct<R>) => Promise<R>

/** All but the clock, which judges itself. */
export const administration = (
  change: Change,
  newNonce: () => string,
): Omit<SpendingAdministration, 'repairClock'> => ({
  reverse: async (ask) => change(reverseAct(ask)),
  resetWindow: async (note = {}) => change({ step: openWindowEarly(note), guess: calendarGuess }),
  pushBalance: async (amount, at) => change(readingAct(parseAmount(amount, 'balance'), at)),
  grant: async (ask) => change(grantAct(ask, newNonce())),
  grants: (plan) => change(grantsAct(plan)),
  voidGrant: async (ask) => change(voidAct(ask)),
  createPlan: (ask) => change({ step: createPlan(ask), guess: planGuess(ask.id) }),
  changePlan: (ask) => change({ step: changePlan(ask), guess: planGuess(ask.plan) }),
  retirePlan: (ask) => change({ step: retirePlan(ask), guess: planGuess(ask.plan) }),
  activatePlan: (id, note = {}) =>
    change({ step: switchPlan(id, true, note), guess: planGuess(id) }),
  deactivatePlan: (id, note = {}) =>
    change({ step: switchPlan(id, false, note), guess: planGuess(id) }),
  link: async (ask) => change(linkAct(ask)),
  unlink: async (ask) => change(unlinkAct(ask)),
})
