/** The ledger and the indexes of spending, read from a store page by page. Never for a decision. */
import type { Entry, Item, Key, Store } from '../../core/store.ts'

/** Entries or items read at once; the store's own bound is far higher. */
export const LEDGER_PAGE = 1_000

/** The texts of a stream, oldest first, of positions beyond `after`. */
export async function* readStream(
  store: Store,
  stream: string,
  after = 0,
): AsyncGenerator<Entry, void, undefined> {
  let position = after
  for (;;) {
    const page = await store.read(stream, position, LEDGER_PAGE)
    yield* page
    position = page.at(-1)?.position ?? position
    if (page.length < LEDGER_PAGE) return
  }
}

/** Every item of an index, in byte order of keys, beyond `after`. */
export async function* readIndex(
  store: Store,
  index: string,
  after: Key = '',
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pagesOf(store, index, after)) yield* page
}

/** The same, as many as the store gives at once. */
export async function* pagesOf(
  store: Store,
  index: string,
  after: Key = '',
): AsyncGenerator<readonly Item[], void, undefined> {
  let last = after
  for (;;) {
    const page = await store.range(index, last, LEDGER_PAGE)
    yield page
    last = page.at(-1)?.key ?? last
    if (page.length < LEDGER_PAGE) return
  }
}

export async function* chunksOf<T>(
  items: AsyncIterable<T>,
  size: number,
): AsyncGenerator<readonly T[]> {
  let taken: T[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length < size) continue
    yield taken
    taken = []
  }
  if (taken.length > 0) yield taken
}
