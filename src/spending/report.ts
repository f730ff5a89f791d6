/** What a window's money was spent on: by operation, family, mode and tier. Sums that add up. */
import { decodeBudget } from '../core/codec.ts'
import type { Item, Store } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { SpendingMode } from './ask.ts'
import type { Keys } from './keys.ts'
import { type Family, familyOf, TOTAL } from './party.ts'
import type { Tier } from './plan.ts'

export interface SpendingReport {
  readonly window: Instant
  readonly total: bigint
  readonly byOperation: Readonly<Record<string, bigint>>
  readonly byFamily: Readonly<Partial<Record<Family, bigint>>>
  readonly byMode: Readonly<Partial<Record<SpendingMode, bigint>>>
  readonly byTier: Readonly<Partial<Record<Tier, bigint>>>
}

/** Read page by page from the window's index: for people, never for a decision. */
export const reportOf = async (
  store: Store,
  keys: Keys,
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
  return {
    window,
    total: totals[''] ?? 0n,
    byOperation,
    byFamily: families,
    byMode: await read('mode/'),
    byTier: await read('tier/'),
  }
}

/** A page of an index; the store's own bound is far higher. */
export const PAGE = 1_000

/** The nodes of a window whose name starts so, as the rest of their name and what was spent. */
async function spentUnder(store: Store, keys: Keys, window: Instant, prefix: string) {
  const start = keys.node(window, prefix)
  const found: Record<string, bigint> = {}
  // The key just before the first that could match, so that the page starts with it.
  let after = start.slice(0, -1)
  for (;;) {
    const page = await store.range(keys.window(window), after, PAGE)
    for (const { key, value } of page) {
      if (key.startsWith(start)) found[key.slice(start.length)] = decodeBudget(value).spent
    }
    const last: Item | undefined = page.at(-1)
    if (page.length < PAGE || last === undefined || isPast(last.key, start)) return found
    after = last.key
  }
}

function isPast(key: string, start: string): boolean {
  return key > start && !key.startsWith(start)
}
