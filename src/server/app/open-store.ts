/** Opens the store that a URL names. The only place that knows every kind of store. */
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { memory } from '../../stores/memory/index.ts'
import type { RedisStore } from '../../stores/redis/index.ts'
import type { StoreEvent } from '../../stores/remote/line.ts'
import type { GroupSent } from '../../stores/remote/optimist.ts'
import type { SharedStore } from '../../stores/remote/shared-store.ts'
import { type CommittedGroup, sqlite } from '../../stores/sqlite/index.ts'
import { refuseConfig } from '../config/config-mistake.ts'
import { parseStoreUrl } from '../config/store-url.ts'

interface OpenStoreOptions {
  /** Called after each commit that reached a disk, or a server. */
  readonly onCommit?: (group: CommittedGroup) => void
  /** Of a server: told how its round trips go. */
  readonly observe?: (event: StoreEvent) => void
  /** Of a server: told what became of each that was to commit. */
  readonly onGroup?: (group: GroupSent) => void
  /** It will keep money or attempts at PINs: a Redis that may lose them is refused. */
  readonly mustKeep?: boolean
}

/** Servers are loaded only where one is named. */
export const openStore = async (
  url: string,
  { onCommit, observe, onGroup, mustKeep = false }: OpenStoreOptions = {},
): Promise<Store> => {
  const observed = {
    ...(observe && { observe }),
    onGroup: (group: GroupSent) => {
      onCommit?.(group)
      onGroup?.(group)
    },
  }
  const address = parseStoreUrl(url)
  switch (address.kind) {
    case 'memory':
      return memory()
    case 'sqlite':
      return sqlite({ path: address.path, ...(onCommit && { onCommit }) })
    case 'redis': {
      const { redis } = await import('../../stores/redis/index.ts')
      const store = redis({ url: address.url, ...observed })
      return checked(store, mustKeep ? () => refuseLosses(store) : undefined)
    }
    case 'postgres': {
      const { postgres } = await import('../../stores/postgres/index.ts')
      return checked(postgres({ url: address.url, ...observed }))
    }
    default:
      return address satisfies never
  }
}

/**
 * Refuses a server that will not do. One that cannot be reached may come back: whoever asks meanwhile is
 * told that the store is down. But what must be checked is not used unchecked.
 */
async function checked(store: SharedStore, check?: () => Promise<void>): Promise<Store> {
  try {
    await store.opened()
    await check?.()
    return store
  } catch (error) {
    if (error instanceof StoreError && check === undefined) return store
    await store.close()
    throw error
  }
}

async function refuseLosses(store: RedisStore): Promise<void> {
  const losses = await store.losses()
  if (losses.length === 0) return
  refuseConfig({
    code: 'STORE_MAY_LOSE',
    thing: 'store',
    rule: 'must lose nothing that it answered, as it keeps money or attempts at PINs; acceptRedisLosses: true (--accept-redis-losses) takes the risk',
    finding: losses.join('; '),
  })
}
