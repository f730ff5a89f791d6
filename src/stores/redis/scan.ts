/** All that Headgate keeps on a Redis server or cluster, for those who move it. */
import { assert, StoreError } from '../../core/errors.ts'
import { indexOf } from '../../core/names.ts'
import type {
  KeptItem,
  Moving,
  RestoredStream,
  ScanPage,
  StoreStatus,
  StreamHead,
  Write,
} from '../../core/store.ts'
import { type Clock, type Instant, instant } from '../../core/time.ts'
import { checkPage, checkRestored } from '../bounds.ts'
import { GRACE } from '../remote/backend.ts'
import { timeOf } from './backend.ts'
import { infoField } from './fitness.ts'
import { isRedisReply, type RedisNode } from './link.ts'
import type { RedisPlaces } from './pages.ts'
import { RESTORE_ENTRIES } from './scripts.ts'
import { ALL_SLOTS, rangesOf, slotsIn } from './slots.ts'

interface MovingOptions extends RedisPlaces {
  /** The claims of every partition: a fence takes their place. */
  readonly allClaims: () => readonly string[]
}

export const redisMoving = (options: MovingOptions): Moving => {
  const { link, line, names, allClaims, clock } = options
  return {
    status: async () => {
      const nodes = await line.ask(link.masters)
      const clocks = clock ? [clock()] : await line.ask(() => Promise.all(nodes.map(timeAt)))
      const sizes = await line.ask(() => Promise.all(nodes.map(({ call }) => call('DBSIZE'))))
      const keys = sizes.reduce((sum: number, size) => sum + Number(size), 0)
      return { ...(await fenceOf(options)), clocks, keys }
    },
    fence: async (why) => {
      // In a cluster of each partition, one after another: what is under way in one is over once it is fenced.
      await inParts(allClaims(), (claims) =>
        line.ask(() =>
          Promise.all(
            claims.map((name) =>
              why === undefined ? link.call('DEL', name) : link.call('SET', name, why),
            ),
          ),
        ),
      )
    },
    streams: async (cursor, limit) => {
      checkPage(limit)
      const { names: found, next } = await scanNames(options, names.allStreams, cursor, limit)
      const heads = await line.ask(() => Promise.all(found.map((name) => headOf(options, name))))
      return { streams: heads, ...(next !== undefined && { next }) }
    },
    restore: async (writes, streams) => {
      checkRestored(writes, streams)
      const [first] = await line.ask(link.masters)
      const ahead = first === undefined ? 0 : await line.ask(() => aheadOf(clock, first))
      await inParts(writes, (part) =>
        line.ask(() => Promise.all(part.map((write) => restoreItem(options, write, ahead)))),
      )
      for (const stream of streams) await restoreStream(options, stream)
    },
  }
}

/** Calls that are on their way at once: a server must answer all of them in time. */
const AT_ONCE = 1_000

async function inParts<T>(all: readonly T[], work: (part: readonly T[]) => Promise<unknown>) {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await work(all.slice(from, from + AT_ONCE))
  }
}

async function fenceOf({
  link,
  line,
  allClaims,
}: MovingOptions): Promise<Pick<StoreStatus, 'fence' | 'partly'>> {
  const noText = (error: unknown): undefined => {
    if (!isRedisReply(error)) throw error
  }
  const fences: unknown[] = []
  await inParts(allClaims(), async (claims) => {
    const read = () => Promise.all(claims.map((name) => link.call('GET', name).catch(noText)))
    fences.push(...(await line.ask(read)))
  })
  const fence = fences.find((why) => typeof why === 'string')
  const isWhole = fence === undefined || fences.every((why) => why === fence)
  return { fence, ...(!isWhole && { partly: true }) }
}

async function headOf({ link, names }: RedisPlaces, name: string): Promise<StreamHead> {
  const info = replyRows(await link.call('XINFO', 'STREAM', name)).map(String)
  const id = info[info.indexOf('last-generated-id') + 1] ?? ''
  return { stream: names.streamOf(name), last: Number(id.slice('0-'.length)) }
}

/** Apart from its list: whoever is cut off between the two does both again. */
async function restoreItem(
  { link, names }: RedisPlaces,
  { key, value, expiresAt }: Write,
  ahead: number,
): Promise<void> {
  const [name, index] = [names.key(key), indexOf(key)]
  const until =
    expiresAt === undefined ? [] : ['PXAT', Math.ceil((expiresAt + ahead + GRACE) / 1_000)]
  const list = index && names.index(index)
  await Promise.all([
    value === undefined ? link.call('DEL', name) : link.call('SET', name, value, ...until),
    list &&
      (value === undefined ? link.call('ZREM', list, name) : link.call('ZADD', list, 0, name)),
  ])
}

async function restoreStream(
  { link, line, names }: RedisPlaces,
  { stream, last, entries }: RestoredStream,
): Promise<void> {
  await inParts(entries.length === 0 ? [undefined] : entries, (part) => {
    const rows = part.flatMap((row) => (row === undefined ? [] : [row.position, row.entry]))
    const isEnd = part.at(-1) === entries.at(-1)
    const end = isEnd ? last : (part.at(-1)?.position ?? last)
    return line.ask(() => link.run(RESTORE_ENTRIES, [names.stream(stream)], [end, ...rows]))
  })
}

// Names, page by page.

/**
 * Where a scan goes on: at which server, from where, and what its last answer had too much of. It is over
 * once every slot was shown whole by one server, whichever servers had them by then: after a failover
 * that is another one.
 */
interface ScanSpot {
  readonly node: string
  /** Which run of that server: after a restart its cursors mean other places, and keys would be passed over. */
  readonly run: string
  readonly cursor: string
  readonly done: ReadonlySet<number>
  /** Those that the server has had since it was begun with. */
  readonly slots: ReadonlySet<number>
  readonly names: readonly string[]
}

const START = '0'

/** Redis looks at so many names of all programs at least: few of them may be ours. */
const MIN_LOOKED_AT = 100

export async function scanRedis(
  places: RedisPlaces,
  from: string,
  limit: number,
): Promise<ScanPage> {
  const { node, names, next } = await scanNames(places, places.names.allKeys, from, limit)
  const items = await places.line.ask(() => itemsOf(node, names, places))
  return { items, ...(next !== undefined && { next }) }
}

interface NamesPage {
  /** Where these names are. */
  readonly node: RedisNode
  readonly names: readonly string[]
  readonly next: string | undefined
}

/** Redis answers about as many as it is asked for: what is too much waits in the cursor. */
async function scanNames(
  { line, link }: RedisPlaces,
  pattern: string,
  from: string,
  limit: number,
): Promise<NamesPage> {
  const nodes = await line.ask(link.masters)
  refuseUncovered(nodes)
  const spot = readSpot(from)
  const done = spot?.done ?? NO_SLOTS
  const node =
    nodes.find(({ id }) => id === spot?.node) ??
    nodes.find(({ slots }) => without(slots, done).size > 0)
  assert(node !== undefined, 'what is not done is at some server')
  const run = await line.ask(() => runOf(node))
  const isSame = spot?.node === node.id && spot.run === run
  const { cursor, slots, names } = isSame ? spot : { cursor: START, slots: node.slots, names: [] }
  const found =
    names.length > 0
      ? { cursor, names }
      : await line.ask(() => scanNode(node, cursor, pattern, limit))
  const shown = found.names.slice(0, limit)
  const rest = found.names.slice(limit)
  const still = both(slots, node.slots)
  if (rest.length > 0 || found.cursor !== START) {
    const here = { node: node.id, run, cursor: found.cursor, done, slots: still, names: rest }
    return { node, names: shown, next: writeSpot(here) }
  }
  const all = new Set([...done, ...still])
  const left = nodes.find((other) => without(other.slots, all).size > 0)
  if (left === undefined) return { node, names: shown, next: undefined }
  const after = { node: left.id, run: '', cursor: START, done: all, slots: NO_SLOTS, names: [] }
  return { node, names: shown, next: writeSpot(after) }
}

/** What lies in a slot that no server has is not there to be seen: a part is never shown as all. */
function refuseUncovered(nodes: readonly RedisNode[]): void {
  const covered = new Set(nodes.flatMap(({ slots }) => [...slots]))
  const missing = without(ALL_SLOTS, covered)
  if (missing.size === 0) return
  throw new StoreError({
    code: 'STORE_UNAVAILABLE',
    thing: 'the Redis Cluster store',
    rule: 'must have a server for every slot',
    finding: `none for ${rangesOf(missing)}`,
  })
}

const NO_SLOTS: ReadonlySet<number> = new Set()

const both = (some: ReadonlySet<number>, others: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...some].filter((slot) => others.has(slot)))

const without = (some: ReadonlySet<number>, others: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...some].filter((slot) => !others.has(slot)))

async function scanNode(
  node: RedisNode,
  from: string,
  pattern: string,
  limit: number,
): Promise<{ readonly cursor: string; readonly names: readonly string[] }> {
  const count = Math.max(limit, MIN_LOOKED_AT)
  const reply = await node.call('SCAN', from, 'MATCH', pattern, 'COUNT', count)
  const [cursor, found] = replyRows(reply)
  return { cursor: String(cursor), names: replyRows(found).map(String) }
}

/** One by one, but all on their way at once: in a cluster keys of one server need not share a slot. */
async function itemsOf(
  node: RedisNode,
  shown: readonly string[],
  { names, clock }: RedisPlaces,
): Promise<KeptItem[]> {
  const [values, expiries, ahead] = await Promise.all([
    Promise.all(shown.map((name) => node.call('GET', name))),
    Promise.all(shown.map((name) => node.call('PEXPIRETIME', name))),
    aheadOf(clock, node),
  ])
  return shown.flatMap((name, i) => {
    const [value, expiry] = [values[i], Number(expiries[i])]
    if (typeof value !== 'string') return []
    const expiresAt = instant(expiry * 1_000 - GRACE - ahead)
    return [{ key: names.keyOf(name), value, ...(expiry > 0 && { expiresAt }) }]
  })
}

/** How far the server's clock is ahead of the one that overrides it. */
const aheadOf = async (clock: Clock | undefined, node: RedisNode): Promise<number> =>
  clock === undefined ? 0 : (await timeAt(node)) - clock()

const timeAt = async ({ call }: RedisNode): Promise<Instant> => {
  const [seconds, micros] = replyRows(await call('TIME'))
  return timeOf(seconds, micros)
}

const runOf = async ({ call }: RedisNode): Promise<string> =>
  infoField(String(await call('INFO', 'server')), 'run_id') ?? ''

const writeSpot = ({ node, run, cursor, done, slots, names }: ScanSpot): string =>
  JSON.stringify([node, run, cursor, rangesOf(done), rangesOf(slots), ...names])

/** Undefined for a cursor that is none of ours: the scan then begins anew. */
function readSpot(text: string): ScanSpot | undefined {
  try {
    const [node, run, cursor, done, slots, ...names] = replyRows(JSON.parse(text)).map(String)
    if (node === undefined || run === undefined || cursor === undefined) return undefined
    if (done === undefined || slots === undefined) return undefined
    return { node, run, cursor, done: slotsIn(done), slots: slotsIn(slots), names }
  } catch {
    return undefined
  }
}

export const replyRows = (reply: unknown): readonly unknown[] => (Array.isArray(reply) ? reply : [])
