/** What one plan has spent: entry by entry from the ledger, and by window, day and month. */
import { decodeBudget } from '../core/codec.ts'
import type { Store } from '../core/store.ts'
import { days, type Instant, instant } from '../core/time.ts'
import type { LedgerEntry } from './entry.ts'
import type { Keys } from './keys.ts'
import { readLedger } from './ledger.ts'
import { planNode } from './party.ts'
import { toDay, toMonth } from './timestamp.ts'

export interface HistoryPage {
  readonly entries: readonly LedgerEntry[]
  /** Where to go on; undefined at the end of the ledger. */
  readonly next: number | undefined
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

/** Ledger entries looked through for one page: the ledger is everyone's, in the order of time. */
export const MAX_LOOKED_THROUGH = 20_000

/** Two months, so that a whole one can be compared with the one before. */
export const USAGE_DAYS = 62

export const historyOf = async (
  store: Store,
  keys: Keys,
  plan: string,
  after: number,
  limit: number,
): Promise<HistoryPage> => {
  const entries: LedgerEntry[] = []
  let looked = 0
  for await (const { position, entry } of readLedger(store, keys, after)) {
    looked += 1
    if (entry.party?.plan === plan) entries.push(entry)
    if (entries.length >= limit || looked >= MAX_LOOKED_THROUGH) return { entries, next: position }
  }
  return { entries, next: undefined }
}

export const usageOf = async (
  store: Store,
  keys: Keys,
  plan: string,
  now: Instant,
): Promise<PlanUsage> => {
  const windows: WindowUsage[] = []
  const oldest = instant(Math.max(0, now - days(USAGE_DAYS)))
  // Starts have sixteen digits until the year 2286, so keys sort by time.
  let after = keys.node(oldest, planNode(plan))
  for (;;) {
    const page = await store.range(keys.usage(plan), after, PAGE)
    for (const { key, value } of page) {
      const kept = keys.parseNode(key)
      if (kept !== undefined) {
        windows.push({ window: kept.window, spent: decodeBudget(value).spent })
      }
      after = key
    }
    if (page.length < PAGE) break
  }
  return { windows, daily: sums(windows, toDay), monthly: sums(windows, toMonth) }
}

const PAGE = 1_000

function sums(windows: readonly WindowUsage[], name: (at: Instant) => string) {
  const found: Record<string, bigint> = {}
  for (const { window, spent } of windows) {
    const group = name(window)
    found[group] = (found[group] ?? 0n) + spent
  }
  return found
}
