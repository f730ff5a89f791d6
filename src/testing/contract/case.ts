/** What the cases of the store contract are given, and the small verbs they share. */
import type { Key, Plan, Store, Value, Write } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import type { FakeClock } from '../fake-clock.ts'

export interface ContractCase {
  readonly name: string
  /** Why the case does not apply to this store; absent: it runs. */
  readonly skipped?: string
  run(): Promise<void>
}

export interface ContractOptions {
  /** Names of cases that the store cannot run, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>
}

/** Opens an empty store that takes its time from `clock`. */
export type OpenStore = (options: { readonly clock: Clock }) => Promise<OpenedStore>

export interface OpenedStore {
  readonly store: Store
  /** A second node on the same data, on the same clock. */
  another?(): Promise<Store>
  /** The same data again after `store` was closed; durable stores only. */
  reopen?(): Promise<Store>
  /** Closes whatever is still open and removes the data. */
  dispose(): Promise<void>
}

export interface Bench {
  readonly clock: FakeClock
  readonly store: Store
  another(): Promise<Store>
  reopen(): Promise<Store>
}

export type Body = (bench: Bench) => Promise<void>
export type Bodies = Readonly<Record<string, Body>>

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

export const put = (key: Key, count: number): Plan<number> => ({
  writes: [{ key, value: String(count) }],
  appends: [],
  result: count,
})

/** The numbers from 0 up to, not including, `count`. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Every key that `scan` shows, by pages of `limit`. */
export async function scanKeys(store: Store, limit: number): Promise<Key[]> {
  const keys: Key[] = []
  for (;;) {
    const page = await store.scan(keys.at(-1) ?? '', limit)
    keys.push(...page.map(({ key }) => key))
    if (page.length < limit) return keys
  }
}
