/** A case of the store contract: what it is given, and the small verbs that all share. */
import assert from 'node:assert/strict'
import type { Commit, Key, Store, Value, Write } from '../../core/store.ts'
import type { Clock, Uptime } from '../../core/time.ts'
import type { FakeClock } from '../fake-clock.ts'
import type { Namer } from './named-store.ts'

export interface ContractCase {
  readonly name: string
  /** Why the case does not apply to this store; absent: it runs. */
  readonly skipped?: string
  run(): Promise<void>
}

export interface ContractOptions {
  /** How the suite names keys, streams and indexes; as pillars name theirs unless told. */
  readonly namer?: Namer
  /** Names of cases that the store cannot run, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>
  /** Why the store has no `moving`, which it need not have: then no case asks for it. */
  readonly withoutMoving?: string
}

/** Opens an empty store that takes its time from `clock`, and forgets by `uptime`. */
export type OpenStore = (options: {
  readonly clock: Clock
  readonly uptime: Uptime
}) => Promise<OpenedStore>

export interface OpenedStore {
  readonly store: Store
  /** A second server on the same data, on the same clock. */
  another?(): Promise<Store>
  /** The same data again after `store` was closed; durable stores only. */
  reopen?(): Promise<Store>
  /** From now on, or no longer, every commit fails at the moment when it would be applied. */
  breakCommits?(on: boolean): Promise<void>
  /** From now on, or no longer, no key can be read; streams can be appended to. */
  breakReads?(on: boolean): Promise<void>
  /** From now on, or no longer, the reply to every commit is lost once it was applied. */
  loseReplies?(on: boolean): Promise<void>
  /** Closes what is still open and removes the data. */
  dispose(): Promise<void>
}

/** What a store can be told to suffer. */
export type StoreFault = 'breakCommits' | 'breakReads' | 'loseReplies'

/** A store of its own for one case, with the abilities that the case may need. */
interface CaseSetting {
  readonly clock: FakeClock
  /** From now on the store's clock moves on with every reading. */
  tick(): void
  readonly store: Store
  /** The same store, by names of another tag: of another partition, where the store has several. */
  readonly elsewhere: Store
  another(): Promise<Store>
  reopen(): Promise<Store>
  suffer(fault: StoreFault, on: boolean): Promise<void>
}

export type CaseBody = (setting: CaseSetting) => Promise<void>
export type CaseBodies = Readonly<Record<string, CaseBody>>

/** Writes without looking. */
export const write = (store: Store, ...writes: readonly Write[]): Promise<void> =>
  store.transact(() => ({ writes, appends: [], result: undefined }))

export const look = (
  store: Store,
  ...keys: readonly Key[]
): Promise<readonly (Value | undefined)[]> =>
  store.transact((view) => ({ writes: [], appends: [], result: view.read(...keys) }))

export const append = (store: Store, stream: string, ...entries: readonly Value[]): Promise<void> =>
  store.transact(() => ({
    writes: [],
    appends: entries.map((entry) => ({ stream, entry })),
    result: undefined,
  }))

/** Adds one to a count and answers the new count. */
export const increment = (store: Store, key: Key): Promise<number> =>
  store.transact((view) => {
    const [value] = view.read(key)
    return put(key, Number(value ?? 0) + 1)
  })

const put = (key: Key, count: number): Commit<number> => ({
  writes: [{ key, value: String(count) }],
  appends: [],
  result: count,
})

/** The numbers from 0 up to, not including, `count`. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Every key that `scan` shows, by pages of `limit`: each once, and sorted, for a scan has no order. */
export const scanKeys = async (store: Store, limit: number): Promise<Key[]> =>
  [...(await scanItems(store, limit)).keys()].toSorted()

/** What `scan` shows, by key. `meanwhile` is called after each page. */
export async function scanItems(
  store: Store,
  limit: number,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<Map<Key, Value>> {
  const shown = new Map<Key, Value>()
  let cursor = ''
  do {
    const { items, next = '' } = await store.scan(cursor, limit)
    assert.ok(items.length <= limit)
    for (const { key, value } of items) shown.set(key, value)
    cursor = next
    await meanwhile()
  } while (cursor !== '')
  return shown
}
