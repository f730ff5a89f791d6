/** Streams, indexes and the scan of a Redis server or cluster. */
import type { Entry, Item, Key } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import type { ServerLine } from '../remote/line.ts'
import type { Pages } from '../remote/shared-store.ts'
import { runUnfenced } from './backend.ts'
import type { RedisLink } from './link.ts'
import type { RedisNames } from './names.ts'
import { replyRows, scanRedis } from './scan.ts'
import { RANGE, TRIM } from './scripts.ts'

export interface RedisPlaces {
  readonly link: RedisLink
  readonly line: ServerLine
  /** The line to where a name lies: where the server of one is gone, lists elsewhere do not fail with it. */
  lineOf(name: string): ServerLine
  readonly names: RedisNames
  /** The claims of the partition that a name belongs to. */
  readonly claimsFor: (name: string) => string
  /** Instead of the server's time, for tests. */
  readonly clock: Clock | undefined
}

export const redisPages = (places: RedisPlaces): Pages => {
  const { link, lineOf, names, claimsFor } = places
  return {
    entries: async (stream, after, limit) => {
      const found = await lineOf(stream).ask(() =>
        link.call('XRANGE', names.stream(stream), `(0-${after}`, '+', 'COUNT', limit),
      )
      return replyRows(found).map(toEntry)
    },
    range: (index, after, limit) => rangeOf(places, { index, after, limit }),
    trim: async (stream, before) => {
      const keys = [claimsFor(stream), names.stream(stream)]
      await lineOf(stream).ask(() => runUnfenced(link, TRIM, { keys, args: [`0-${before}`] }))
    },
    scan: (cursor, limit) => scanRedis(places, cursor, limit),
  }
}

interface RangeAsk {
  readonly index: string
  readonly after: Key
  readonly limit: number
}

async function rangeOf(
  { link, lineOf, names }: RedisPlaces,
  { index, after, limit }: RangeAsk,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let start = after === '' ? '-' : `(${names.key(after)}`
  while (items.length < limit) {
    const args = [start, limit - items.length]
    const reply = await lineOf(index).ask(() => link.run(RANGE, [names.index(index)], args))
    const [last, ...found] = replyRows(reply)
    for (let i = 0; i < found.length; i += 2) {
      items.push({ key: names.keyOf(String(found[i])), value: String(found[i + 1]) })
    }
    if (typeof last !== 'string') return items
    start = `(${last}`
  }
  return items
}

function toEntry(row: unknown): Entry {
  const [id, fields] = replyRows(row)
  const [, entry] = replyRows(fields)
  return { position: Number(String(id).slice('0-'.length)), entry: String(entry) }
}
