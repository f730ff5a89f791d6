/** The books: reports, history, verification, export and compaction, all from the ledger and its balances. */
import { answer, type Store, type View } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { SpendingWindow } from './calendar.ts'
import { type Compaction, compact } from './compaction.ts'
import type { Context } from './context.ts'
import { type ExportFormat, exportLedger } from './export.ts'
import { type HistoryPage, historyOf, type PlanUsage, usageOf } from './history.ts'
import { canonicalPlanId } from './implicit-plan.ts'
import { decodeKeptPlan } from './kept-plan.ts'
import { keysOf } from './keys.ts'
import type { Plan, SpendingSettings } from './plan.ts'
import { type PlanDetails, planDetails } from './plan-details.ts'
import { type Pulse, pulseOf } from './pulse.ts'
import { PAGE, reportOf, type SpendingReport } from './report.ts'
import { type Verification, verify } from './verify.ts'

export interface SpendingBooks {
  window(): Promise<SpendingWindow>
  /** Of the current window, or of one that is named by its start. */
  report(window?: Instant): Promise<SpendingReport>
  usage(plan: string): Promise<PlanUsage>
  /** A page of the plan's ledger entries, from `after` (0 for the start). */
  history(plan: string, after?: number, limit?: number): Promise<HistoryPage>
  /** Recomputes every balance from the ledger; may run at any time. */
  verify(): Promise<Verification>
  /** Line by line, without line ends, hash-chained. */
  export(format: ExportFormat): AsyncIterable<string>
  /** By the settings' policy; without one it does nothing. */
  compact(): Promise<Compaction>
  /** Plans that are not in the file, in the order of their ids. */
  keptPlans(after?: string): Promise<readonly Plan[]>
  /** One plan, with the callers that were linked to it while Headgate ran. */
  details(plan: string): Promise<PlanDetails>
  /** What operators watch, read at one moment. */
  pulse(): Promise<Pulse>
}

/** Entries in a page of a plan's history. */
const HISTORY_PAGE = 100

export const spendingBooks = (
  store: Store,
  settings: () => SpendingSettings,
  open: (view: View) => Context,
): SpendingBooks => {
  const keys = () => keysOf(settings().payer)
  const calendar = () => store.transact((view) => answer(open(view).calendar))
  return {
    window: async () => (await calendar()).window,
    report: async (window) => reportOf(store, keys(), window ?? (await calendar()).window.startsAt),
    usage: async (plan) => usageOf(store, keys(), spelt(plan), (await calendar()).seen),
    history: (plan, after = 0, limit = HISTORY_PAGE) =>
      historyOf(store, keys(), spelt(plan), after, limit),
    verify: () => verify(store, keys(), open),
    export: (format) => exportLedger(store, keys(), format),
    compact: () => compact(store, keys(), open),
    keptPlans: async (after = '') => {
      const start = after === '' ? '' : keys().plan(after)
      const page = await store.range(keys().plans, start, PAGE)
      return page.map(({ value }) => decodeKeptPlan(value))
    },
    details: (plan) => planDetails(store, keys(), open, plan),
    pulse: () => store.transact((view) => answer(pulseOf(open(view)))),
  }
}

/** As the ledger spells it; what is no plan's name has no entries either. */
const spelt = (plan: string): string => canonicalPlanId(plan) ?? plan
