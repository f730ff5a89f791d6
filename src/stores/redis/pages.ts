/** Streams, indexes and the scan of a Redis server or cluster. */
import type { Entry, Item, Key, ScanPage } from '../../core/store.ts'
import type { ServerLine } from '../remote/line.ts'
import type { Pages } from '../remote/shared-store.ts'
import type { RedisLink, RedisNode } from './link.ts'
import type { RedisNames } from './names.ts'
import { RANGE } from './scripts.ts'

interface Places {
  readonly link: RedisLink
  readonly line: ServerLine
  /** The line to where a name lies: where the server of one is gone, lists elsewhere do not fail with it. */
  lineOf(name: string): ServerLine
  readonly names: RedisNames
}

export const redisPages = (places: Places): Pages => {
  const { link, lineOf, names } = places
  return {
    entries: async (stream, after, limit) => {
      const found = await lineOf(stream).ask(() =>
        link.call('XRANGE', names.stream(stream), `(0-${after}`, '+', 'COUNT', limit),
      )
      return rowsOf(found).map(toEntry)
    },
    range: (index, after, limit) => rangeOf(places, { index, after, limit }),
    trim: async (stream, before) => {
      await lineOf(stream).ask(() =>
        link.call('XTRIM', names.stream(stream), 'MINID', `0-${before}`),
      )
    },
    scan: (cursor, limit) => scanOf(places, cursor, limit),
  }
}

interface RangeAsk {
  readonly index: string
  readonly after: Key
  readonly limit: number
}

async function rangeOf(
  { link, lineOf, names }: Places,
  { index, after, limit }: RangeAsk,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let start = after === '' ? '-' : `(${names.key(after)}`
  while (items.length < limit) {
    const args = [start, limit - items.length]
    const reply = await lineOf(index).ask(() => link.run(RANGE, [names.index(index)], args))
    const [last, ...found] = rowsOf(reply)
    for (let i = 0; i < found.length; i += 2) {
      items.push({ key: names.keyOf(String(found[i])), value: String(found[i + 1]) })
    }
    if (typeof last !== 'string') return items
    start = `(${last}`
  }
  return items
}

/** Where a scan goes on: at which server, from where, and what its last answer had too much of. */
interface Spot {
  readonly node: string
  readonly cursor: string
  readonly names: readonly string[]
}

const START = '0'

/** Redis looks at so many names of all programs at least: few of them may be ours. */
const MIN_LOOKED_AT = 100

/** Redis answers about as many as it is asked for: what is too much waits in the cursor. */
async function scanOf(places: Places, from: string, limit: number): Promise<ScanPage> {
  const { line, link, names } = places
  const nodes = link.nodes()
  const spot = readSpot(from)
  const at = Math.max(
    0,
    nodes.findIndex(({ name }) => name === spot?.node),
  )
  const node = nodes[at]
  if (node === undefined) return { items: [] }
  const here = spot?.node === node.name ? spot : { node: node.name, cursor: START, names: [] }
  const found =
    here.names.length > 0
      ? here
      : await line.ask(() => scanNode(node, here.cursor, names.allKeys, limit))
  const shown = found.names.slice(0, limit)
  const rest = found.names.slice(limit)
  const items = await line.ask(() => itemsOf(node, shown, names))
  if (rest.length > 0 || found.cursor !== START) {
    return { items, next: writeSpot({ node: node.name, cursor: found.cursor, names: rest }) }
  }
  const next = nodes[at + 1]
  if (next === undefined) return { items }
  return { items, next: writeSpot({ node: next.name, cursor: START, names: [] }) }
}

async function scanNode(
  node: RedisNode,
  from: string,
  pattern: string,
  limit: number,
): Promise<{ readonly cursor: string; readonly names: readonly string[] }> {
  const count = Math.max(limit, MIN_LOOKED_AT)
  const reply = await node.call('SCAN', from, 'MATCH', pattern, 'COUNT', count)
  const [cursor, found] = rowsOf(reply)
  return { cursor: String(cursor), names: rowsOf(found).map(String) }
}

/** One by one, but all on their way at once: in a cluster keys of one server need not share a slot. */
async function itemsOf(
  node: RedisNode,
  shown: readonly string[],
  names: RedisNames,
): Promise<Item[]> {
  const values = await Promise.all(shown.map((name) => node.call('GET', name)))
  return shown.flatMap((name, i) => {
    const value = values[i]
    return typeof value === 'string' ? [{ key: names.keyOf(name), value }] : []
  })
}

const writeSpot = ({ node, cursor, names }: Spot): string =>
  JSON.stringify([node, cursor, ...names])

/** Undefined for a cursor that is none of ours: the scan then begins anew. */
function readSpot(text: string): Spot | undefined {
  try {
    const [node, cursor, ...names] = rowsOf(JSON.parse(text)).map(String)
    return node === undefined || cursor === undefined ? undefined : { node, cursor, names }
  } catch {
    return undefined
  }
}

const rowsOf = (reply: unknown): readonly unknown[] => (Array.isArray(reply) ? reply : [])

function toEntry(row: unknown): Entry {
  const [id, fields] = rowsOf(row)
  const [, entry] = rowsOf(fields)
  return { position: Number(String(id).slice('0-'.length)), entry: String(entry) }
}
