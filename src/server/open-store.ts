/** Opens the store that a URL names. The only place that knows every kind of store. */
import type { Store } from '../core/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { type CommittedGroup, sqliteStore } from '../stores/sqlite/index.ts'
import { parseStoreUrl } from './store-url.ts'

export interface OpenStoreOptions {
  /** Told of each commit that reached a disk. */
  readonly onCommit?: (group: CommittedGroup) => void
}

export const openStore = (url: string, { onCommit }: OpenStoreOptions = {}): Store => {
  const address = parseStoreUrl(url)
  switch (address.kind) {
    case 'memory':
      return memoryStore()
    case 'sqlite':
      return sqliteStore({ path: address.path, ...(onCommit && { onCommit }) })
    default:
      return address satisfies never
  }
}
