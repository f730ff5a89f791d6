/** Reading the ledger: one stream for each payer, oldest first, page by page. */
import type { Store, View } from '../core/store.ts'
import { decodeEntry, type LedgerEntry } from './entry.ts'
import type { Keys } from './keys.ts'

export interface PlacedEntry {
  /** In the stream; grows, with gaps. */
  readonly position: number
  readonly entry: LedgerEntry
}

/** What was compacted: entries up to `through` count no more, totals after them stand in their place. */
export interface Compacted {
  readonly through: number
  /** Where the first entry stands that was kept. */
  readonly position: number
}

/** Entries read at once. */
const PAGE = 1_000

export async function* readLedger(
  store: Store,
  keys: Keys,
  after = 0,
): AsyncGenerator<PlacedEntry, void, undefined> {
  let position = after
  for (;;) {
    const page = await store.read(keys.ledger, position, PAGE)
    for (const { position: place, entry } of page) {
      yield { position: place, entry: decodeEntry(entry) }
      position = place
    }
    if (page.length < PAGE) return
  }
}

export const readCompacted = (view: View, keys: Keys): Compacted => {
  const [value] = view.read(keys.compacted)
  if (value === undefined) return { through: 0, position: 0 }
  const compacted: Compacted = JSON.parse(value)
  return compacted
}
