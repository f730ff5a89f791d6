/** The ledger as operators use it: reports, history, verification, export and compaction. */

import { decodeBudget, totalHeld } from '../../core/budget.ts'
import { itemOf } from '../../core/names.ts'
import { answer, type Store, type View } from '../../core/store.ts'
import { days, type Instant, instant } from '../../core/time.ts'
import { toDay, toMonth } from '../../lib/moments.ts'
import type { Standing } from '../flow/answer.ts'
import { FAMILIES, type Family, familyOf, type SpendingMode } from '../flow/ask.ts'
import {
  FAMILY,
  planBudget,
  plansBudget,
  readBalances,
  TOTAL,
  tierBudget,
  totalStanding,
} from '../flow/balances.ts'
import { listOpenHolds, type OpenHolds, type OpenHoldsAsk } from '../flow/open-holds.ts'
import type { PayerView } from '../flow/step.ts'
import { keysOf, OUTFLOW, type SpendingKeys } from '../keys.ts'
import { type BalanceReading, readReading } from '../operator/balance.ts'
import { type PlanDetails, planDetails } from '../plans/links.ts'
import { type Plan, type SpendingSettings, TIERS, type Tier } from '../plans/plan.ts'
import { canonicalPlanId, decodeKeptPlan } from '../plans/resolve.ts'
import type { SpendingWindow } from '../windows/calendar.ts'
import { type Compaction, compactLedger } from './compaction.ts'
import { type ExportFormat, exportLedger } from './export.ts'
import type { Verification } from './finding.ts'
import { type HistoryAsk, type PlanHistory, planHistory } from './history.ts'
import { LEDGER_PAGE, pagesOf, readIndex } from './pages.ts'
import { auditRounds, verifyLedger } from './verify.ts'
import type { Anchor } from './walk.ts'

export interface SpendingLedger {
  window(): Promise<SpendingWindow>
  /** Of the current window, or of one that is named by its start. */
  report(window?: Instant): Promise<SpendingReport>
  usage(plan: string): Promise<PlanUsage>
  /** A page of the plan's ledger entries, from either end. */
  history(plan: string, ask?: HistoryAsk): Promise<PlanHistory>
  /** Walks the chain and recomputes every account from the ledger; may run at any time. */
  verify(anchor?: Anchor): Promise<Verification>
  /** The same without end, in bites: undefined after each, and a verification after each round. */
  audit(): AsyncGenerator<Verification | undefined, never>
  /** Line by line, without line ends, with the hashes of the chain. */
  export(format: ExportFormat): AsyncIterable<string>
  /** By the settings' policy; without one it does nothing. */
  compact(): Promise<Compaction>
  /** A page of the plans that are kept here, in the order of their ids; empty at the end. */
  keptPlans(after?: string): Promise<readonly Plan[]>
  /** A page of the holds that are open, of all or of a plan or member; those that end first come first. */
  holds(ask?: OpenHoldsAsk): Promise<OpenHolds>
  /** One plan, with the members that were linked to it while Headgate ran. */
  details(plan: string): Promise<PlanDetails>
  /** What operators watch, all read at one moment. */
  overview(): Promise<SpendingOverview>
}

export const spendingLedger = (
  store: Store,
  settings: () => SpendingSettings,
  open: (view: View) => PayerView,
): SpendingLedger => {
  const keys = () => keysOf(settings().payer)
  const calendar = () => store.transact((view) => answer(open(view).calendar))
  return {
    window: async () => (await calendar()).window,
    report: async (window) =>
      windowReport(store, keys(), window ?? (await calendar()).window.startsAt),
    usage: async (plan) => planUsage(store, keys(), spelt(plan), (await calendar()).seen),
    history: (plan, ask = {}) => planHistory(store, keys(), open, plan, ask),
    verify: (anchor) => verifyLedger({ store, keys: keys(), open, anchor }),
    audit: () => auditRounds({ store, keys: keys(), open }),
    export: (format) => exportLedger(store, keys(), format),
    compact: () => compactLedger(store, keys(), open),
    keptPlans: async (after = '') => {
      const start = after === '' ? '' : keys().plan(after)
      const page = await store.range(keys().plans, start, LEDGER_PAGE)
      return page.map(({ value }) => decodeKeptPlan(value))
    },
    holds: async (ask = {}) => listOpenHolds(store, keys(), open, ask),
    details: (plan) => planDetails(store, keys(), open, plan),
    overview: () => store.transact((view) => answer(overviewOf(open(view)))),
  }
}

/** As the ledger spells it; what is no plan's name has no entries either. */
const spelt = (plan: string): string => canonicalPlanId(plan) ?? plan

/** What a window's money was spent on. Operations, families and modes each add up to the total. */
export interface SpendingReport {
  readonly window: Instant
  readonly total: bigint
  readonly byOperation: Readonly<Record<string, bigint>>
  readonly byFamily: Readonly<Partial<Record<Family, bigint>>>
  readonly byMode: Readonly<Partial<Record<SpendingMode, bigint>>>
  readonly byTier: Readonly<Partial<Record<Tier, bigint>>>
}

const windowReport = async (
  store: Store,
  keys: SpendingKeys,
  window: Instant,
): Promise<SpendingReport> => {
  const read = (prefix: string) => spentUnder(store, keys, window, prefix)
  const byOperation = await read('operation/')
  const totals = await read(TOTAL)
  const families: Partial<Record<Family, bigint>> = {}
  for (const [operation, spent] of Object.entries(byOperation)) {
    const family = familyOf(operation)
    families[family] = (families[family] ?? 0n) + spent
  }
  for (const [told, spent] of Object.entries(await read(FAMILY))) {
    const [named, other]: readonly Family[] = told.startsWith('ETH')
      ? FAMILIES
      : FAMILIES.toReversed()
    if (named === undefined || other === undefined) continue
    families[named] = (families[named] ?? 0n) + spent
    families[other] = (families[other] ?? 0n) - spent
  }
  return {
    window,
    total: totals[''] ?? 0n,
    byOperation,
    byFamily: families,
    byMode: await read('mode/'),
    byTier: await read('tier/'),
  }
}

/** The budgets of a window whose name starts so, as the rest of their name and what was spent. */
async function spentUnder(store: Store, keys: SpendingKeys, window: Instant, prefix: string) {
  const start = keys.budget(window, prefix)
  const found: Record<string, bigint> = {}
  // Beyond the key just before the first that could match.
  for await (const { key, value } of readIndex(store, keys.balances(window), start.slice(0, -1))) {
    if (key.startsWith(start)) found[key.slice(start.length)] = decodeBudget(value).spent
    else if (key > start) break
  }
  return found
}

export interface WindowUsage {
  readonly window: Instant
  readonly spent: bigint
}

export interface PlanUsage {
  readonly windows: readonly WindowUsage[]
  /** By UTC day and month of the window's start. */
  readonly daily: Readonly<Record<string, bigint>>
  readonly monthly: Readonly<Record<string, bigint>>
}

/** Two months, so that a whole one can be compared with the one before. */
const USAGE_DAYS = 62

const planUsage = async (
  store: Store,
  keys: SpendingKeys,
  plan: string,
  now: Instant,
): Promise<PlanUsage> => {
  const windows: WindowUsage[] = []
  const oldest = instant(Math.max(0, now - days(USAGE_DAYS)))
  // Starts have sixteen digits until the year 2286, so keys sort by time.
  for await (const page of pagesOf(store, keys.windows, keys.window(oldest))) {
    const starts = page.map(({ key }) => instant(Number(itemOf(key))))
    const names = starts.map((window) => keys.budget(window, planBudget(plan)))
    const values = await store.transact((view) => answer(view.read(...names)), names, 'look')
    for (const [i, window] of starts.entries()) {
      const value = values[i]
      if (value !== undefined) windows.push({ window, spent: decodeBudget(value).spent })
    }
  }
  return { windows, daily: sumsBy(windows, toDay), monthly: sumsBy(windows, toMonth) }
}

function sumsBy(windows: readonly WindowUsage[], name: (at: Instant) => string) {
  const sums: Record<string, bigint> = {}
  for (const { window, spent } of windows) {
    const group = name(window)
    sums[group] = (sums[group] ?? 0n) + spent
  }
  return sums
}

/** What operators watch, all read at one moment. */
export interface SpendingOverview {
  readonly now: Instant
  readonly window: SpendingWindow
  readonly total: Standing
  /** Of every window: a hold that was made in the last one may still be open. */
  readonly held: bigint
  /** When the first of the open holds ends by itself; undefined while none is open. */
  readonly firstExpiry: Instant | undefined
  readonly balance: BalanceReading | undefined
  /** Of plans that spent anything in this window. */
  readonly tiers: Readonly<Record<Tier, TierUsage>>
}

export interface TierUsage {
  readonly plans: number
  readonly spent: bigint
}

const overviewOf = (view: PayerView): SpendingOverview => {
  const { now, calendar } = view
  const ofTiers = TIERS.flatMap((tier) => [tierBudget(tier), plansBudget(tier)])
  const balances = readBalances(view, calendar.window.startsAt, [TOTAL, OUTFLOW, ...ofTiers])
  const usageOf = (tier: Tier): TierUsage => ({
    plans: Number(balances.get(plansBudget(tier))?.spent ?? 0n),
    spent: balances.get(tierBudget(tier))?.spent ?? 0n,
  })
  const outflow = balances.get(OUTFLOW)
  const reading = readReading(view)
  return {
    now,
    window: calendar.window,
    total: totalStanding(view, balances),
    held: outflow === undefined ? 0n : totalHeld(outflow, now),
    firstExpiry: outflow?.held.find(({ expiresAt }) => expiresAt > now)?.expiresAt,
    balance: reading && { amount: reading.amount, at: reading.at },
    tiers: {
      BASIC: usageOf('BASIC'),
      EXTENDED: usageOf('EXTENDED'),
      PRIVILEGED: usageOf('PRIVILEGED'),
    },
  }
}
