/**
 * Compaction: ledger entries of windows that ended long ago become totals. The totals are entries
 * too, written before anything is forgotten, and they say how many they stand for.
 */
import { answer, type Store, type Plan as StorePlan, type View } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import { checkCompaction } from './compaction-policy.ts'
import { type Context, toStorePlan } from './context.ts'
import type { EntryDraft, NodeTotal } from './entry.ts'
import { type Fold, foldEntry } from './fold.ts'
import type { Keys } from './keys.ts'
import { type Compacted, readCompacted, readLedger } from './ledger.ts'

export interface Compaction {
  /** Entries that were replaced. */
  readonly entries: number
  /** Totals that stand for them. */
  readonly totals: number
}

/** Totals in one entry: some 50 kB. */
const TOTALS_PER_ENTRY = 500

/** Does nothing without a policy, and nothing to windows that could still be settled. */
export const compact = async (
  store: Store,
  keys: Keys,
  open: (view: View) => Context,
): Promise<Compaction> => {
  const before = await store.transact((view) => answer(openingOf(open(view))))
  if (before.cutoff === undefined) return { entries: 0, totals: 0 }
  // A crash may have come between the last totals and the trim.
  await store.trim(keys.ledger, before.compacted.position)
  const found = await collect(store, keys, before.cutoff, before.compacted)
  if (found.entries === 0) return { entries: 0, totals: 0 }
  const written = await store.transact((view) => replace(open(view), before.compacted, found))
  if (written.entries > 0) await store.trim(keys.ledger, found.position)
  return written
}

interface Opening {
  readonly compacted: Compacted
  /** Windows that started before it have ended long enough ago. */
  readonly cutoff: number | undefined
}

function openingOf({ settings, view, keys, calendar }: Context): Opening {
  const { compactAfter, window } = settings
  const compacted = readCompacted(view, keys)
  if (compactAfter === undefined) return { compacted, cutoff: undefined }
  checkCompaction(settings)
  const cutoff = Math.min(view.now - compactAfter - window.length, calendar.window.startsAt)
  return { compacted, cutoff }
}

interface Collected extends Compacted {
  readonly fold: Fold
  readonly entries: number
}

/** From the start up to the first entry of a window that must stay. */
async function collect(
  store: Store,
  keys: Keys,
  cutoff: number,
  { through, position }: Compacted,
): Promise<Collected> {
  const found = { fold: new Map(), entries: 0, through, position }
  for await (const { position: place, entry } of readLedger(store, keys)) {
    if (entry.window >= cutoff) break
    found.position = place + 1
    if (entry.seq <= through) continue
    foldEntry(found.fold, keys, entry)
    found.entries += 1
    found.through = entry.seq
  }
  return found
}

function replace(context: Context, before: Compacted, found: Collected): StorePlan<Compaction> {
  const { view, keys } = context
  // Another process was here first.
  if (readCompacted(view, keys).through !== before.through) return answer({ entries: 0, totals: 0 })
  const { through, position } = found
  const entries = totalEntries(found)
  return toStorePlan(context, {
    result: { entries: found.entries, totals: found.fold.size },
    writes: [{ key: keys.compacted, value: JSON.stringify({ through, position }) }],
    entries,
  })
}

function totalEntries({ fold, entries, through }: Collected): readonly EntryDraft[] {
  const byWindow = new Map<Instant, NodeTotal[]>()
  for (const { node, window, state } of fold.values()) {
    const totals = byWindow.get(window) ?? []
    byWindow.set(window, totals)
    totals.push({ node, spent: state.spent })
  }
  const detail = `totals of ${entries} entries up to number ${through}`
  return [...byWindow].flatMap(([window, totals]) =>
    Array.from({ length: Math.ceil(totals.length / TOTALS_PER_ENTRY) }, (_, i): EntryDraft => {
      const slice = totals.slice(i * TOTALS_PER_ENTRY, (i + 1) * TOTALS_PER_ENTRY)
      return { kind: 'totals', window, moves: [], totals: slice, detail }
    }),
  )
}
