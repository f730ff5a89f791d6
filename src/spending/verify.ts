/** Verifying: recomputes every balance from the ledger and says where the kept ones differ. */
import { NOTHING_SPENT, totalHeld } from '../core/budget.ts'
import { decodeBudget } from '../core/codec.ts'
import { StoreError } from '../core/errors.ts'
import { answer, type Key, type Store, type Value, type View } from '../core/store.ts'
import { type Instant, instant } from '../core/time.ts'
import type { Context } from './context.ts'
import { type Fold, type FoldedNode, foldEntry } from './fold.ts'
import { type KeyedNode, type Keys, OUTFLOW } from './keys.ts'
import { type Compacted, readCompacted, readLedger } from './ledger.ts'

export interface Sums {
  readonly spent: bigint
  readonly held: bigint
}

export interface Drift {
  readonly node: string
  readonly window: Instant
  readonly ledger: Sums
  readonly balance: Sums
}

export interface Verification {
  /** Ledger entries that were read. */
  readonly entries: number
  /** Balances that were compared. */
  readonly nodes: number
  readonly drifts: readonly Drift[]
  /** Numbers of entries that should be there and are not. */
  readonly missing: readonly number[]
}

/** Balances compared in one transaction: other callers wait no longer than for this many reads. */
const CHUNK = 500

/** Keys listed at once, as many as a store gives: the memory store sorts all it has for each page. */
const SCANNED = 10_000

/** How often it starts again because entries were compacted meanwhile. */
const MAX_STARTS = 5

/**
 * May run while money is spent: each chunk of balances is read together with the number of entries
 * written by then, and compared with exactly that many.
 */
export const verify = async (
  store: Store,
  keys: Keys,
  open: (view: View) => Context,
): Promise<Verification> => {
  for (let starts = 1; ; starts++) {
    const look = (names: readonly Key[]) =>
      store.transact((view) => {
        const { calendar } = open(view)
        const compacted = readCompacted(view, keys)
        const values = view.read(...names)
        return answer({ now: calendar.seen, entries: calendar.entries, compacted, values })
      })
    const found = await compare(store, keys, look)
    if (found !== undefined) return found
    if (starts === MAX_STARTS) throw overtaken(keys.ledger)
  }
}

interface Look {
  readonly now: Instant
  readonly entries: number
  readonly compacted: Compacted
  readonly values: readonly (Value | undefined)[]
}

/** Undefined if the ledger was compacted under way. */
async function compare(
  store: Store,
  keys: Keys,
  look: (names: readonly Key[]) => Promise<Look>,
): Promise<Verification | undefined> {
  const { compacted, entries } = await look([])
  const reading = reader(store, keys, compacted)
  await reading.upTo(entries)
  const drifts: Drift[] = []
  let done = 0
  for await (const chunk of chunks(balancesOf(store, keys, reading.fold))) {
    const seen = await look(chunk.map(({ key }) => key))
    if (seen.compacted.through !== compacted.through) return undefined
    await reading.upTo(seen.entries)
    for (const [i, { key, window, node }] of chunk.entries()) {
      const state = reading.fold.get(key)?.state ?? NOTHING_SPENT
      const drift = driftOf({ node, window, state }, seen.values[i], seen.now)
      if (drift !== undefined) drifts.push(drift)
    }
    done += chunk.length
  }
  return { entries: reading.count(), nodes: done, drifts, missing: reading.missing }
}

interface Balance extends KeyedNode {
  readonly key: Key
}

/** Those that the ledger speaks of, then those that are kept although it does not. */
async function* balancesOf(store: Store, keys: Keys, fold: Fold): AsyncGenerator<Balance> {
  // Live: balances that come up while others are compared are compared too.
  for (const [key, { node, window }] of fold) yield { key, node, window }
  const outflow = { window: instant(0), node: OUTFLOW }
  const outflowKey = keys.node(outflow.window, OUTFLOW)
  if (!fold.has(outflowKey)) yield { key: outflowKey, ...outflow }
  let after = keys.nodes
  for (;;) {
    const page = await store.scan(after, SCANNED)
    for (const { key } of page) {
      const kept = keys.parseNode(key)
      if (kept === undefined) return
      if (!fold.has(key)) yield { key, ...kept }
      after = key
    }
    if (page.length < SCANNED) return
  }
}

/** Folds the ledger entry by entry, and never past the number it is told. */
function reader(store: Store, keys: Keys, { through }: Compacted) {
  const fold: Fold = new Map()
  const missing: number[] = []
  let seq = through
  let count = 0
  let after = 0
  return {
    fold,
    missing,
    count: () => count,
    upTo: async (last: number): Promise<void> => {
      if (seq >= last) return
      for await (const { position, entry } of readLedger(store, keys, after)) {
        if (entry.seq > last) return
        after = position
        if (entry.seq <= through) continue
        for (let gap = seq + 1; gap < entry.seq; gap++) missing.push(gap)
        foldEntry(fold, keys, entry)
        seq = entry.seq
        count += 1
      }
    },
  }
}

async function* chunks<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let taken: T[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length < CHUNK) continue
    yield taken
    taken = []
  }
  if (taken.length > 0) yield taken
}

function overtaken(ledger: string): StoreError {
  const rule = `must not be compacted ${MAX_STARTS} times while it is verified`
  return new StoreError({ code: 'STORE_CONTENDED', thing: `ledger ${ledger}`, rule })
}

function driftOf(
  { node, window, state }: FoldedNode,
  value: Value | undefined,
  now: Instant,
): Drift | undefined {
  const kept = value === undefined ? undefined : decodeBudget(value)
  const ledger = { spent: state.spent, held: totalHeld(state, now) }
  const balance = { spent: kept?.spent ?? 0n, held: kept === undefined ? 0n : totalHeld(kept, now) }
  return ledger.spent === balance.spent && ledger.held === balance.held
    ? undefined
    : { node, window, ledger, balance }
}
