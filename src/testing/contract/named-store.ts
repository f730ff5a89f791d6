/** A store seen through short names: cases speak of `a` and `list#a`, and the store of what the namer makes of them. */
import { indexOf, itemOf, listedName } from '../../core/names.ts'
import type { Commit, Item, Key, Moving, Step, Store, View } from '../../core/store.ts'

/** The name of a key, stream or index whose short name is `part`; those of one tag must share a partition. */
export type Namer = (tag: string, part: string) => string

/** Names of one tag, both ways. */
interface ShortNames {
  readonly tag: string
  readonly namer: Namer
  /** What was named so far, shared by all servers of a case: one lists what another wrote. */
  readonly short: Map<string, string>
}

export function namedStore(store: Store, { tag, namer, short }: ShortNames): Store {
  const nameOfPart = (part: string): string => {
    // The empty name stays empty: it is where pages begin, and no key.
    if (part === '') return ''
    const index = indexOf(part)
    const full =
      index === undefined ? namer(tag, part) : listedName(namer(tag, index), itemOf(part))
    short.set(full, part)
    return full
  }

  const shorten = <Shown extends Item>(item: Shown): Shown => ({
    ...item,
    key: short.get(item.key) ?? item.key,
  })

  const named = (moving: Moving): Moving => ({
    status: moving.status,
    fence: moving.fence,
    streams: async (cursor, limit) => {
      const page = await moving.streams(cursor, limit)
      const streams = page.streams.map((head) => ({
        ...head,
        stream: short.get(head.stream) ?? head.stream,
      }))
      return { ...page, streams }
    },
    restore: (writes, streams) =>
      moving.restore(
        writes.map((write) => ({ ...write, key: nameOfPart(write.key) })),
        streams.map((one) => ({ ...one, stream: nameOfPart(one.stream) })),
      ),
  })

  const renamed =
    <R>(step: Step<R>): Step<R> =>
    (full): Commit<R> => {
      const view: View = {
        // Asked for each time: whether it stays the same is for the cases to find out.
        get now() {
          return full.now
        },
        read: (...keys) => full.read(...keys.map(nameOfPart)),
      }
      const { writes, appends, result } = step(view)
      return {
        writes: writes.map((write) => ({ ...write, key: nameOfPart(write.key) })),
        appends: appends.map((append) => ({ ...append, stream: nameOfPart(append.stream) })),
        result,
      }
    }

  return {
    transact: (step, guess, intent) =>
      store.transact(renamed(step), guess?.map(nameOfPart), intent),
    read: (stream, after, limit) => store.read(nameOfPart(stream), after, limit),
    range: async (index: string, after: Key, limit: number) =>
      (await store.range(nameOfPart(index), nameOfPart(after), limit)).map(shorten),
    trim: (stream, before) => store.trim(nameOfPart(stream), before),
    partition: (part) => store.partition(nameOfPart(part)),
    scan: async (cursor, limit) => {
      const page = await store.scan(cursor, limit)
      return { ...page, items: page.items.map(shorten) }
    },
    close: () => store.close(),
    ...(store.moving && { moving: named(store.moving) }),
  }
}
