import type { Item, Store } from '../../src/core/index.ts'

/** All that a store keeps under keys, each once, in the order of the keys. */
export async function everything(store: Store): Promise<readonly Item[]> {
  const found = new Map<string, Item>()
  let cursor = ''
  do {
    const { items, next = '' } = await store.scan(cursor, 1_000)
    for (const { key, value } of items) found.set(key, { key, value })
    cursor = next
  } while (cursor !== '')
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? [])
}
