/**
 * A store on a Redis server or cluster that any number of servers share. Its time is the server's; a commit is one
 * script call, and all calls of one moment travel in one.
 */
import type { Span } from '../../core/time.ts'
import { createBell, type Wire } from '../remote/bell.ts'
import { lastSeen } from '../remote/last-seen.ts'
import { ANSWER_WITHIN, openLines, type ServerLine } from '../remote/line.ts'
import {
  type Optimist,
  type OptimistOptions,
  type OptimistSettings,
  optimist,
} from '../remote/optimist.ts'
import { type SharedStore, sharedStore } from '../remote/shared-store.ts'
import { parseRedisUrl } from './address.ts'
import { type RedisBackendOptions, redisBackend } from './backend.ts'
import { checkFitness, findLosses, inspectRedis } from './fitness.ts'
import { isRedisReply, openLink } from './link.ts'
import { redisNames } from './names.ts'
import { redisPages } from './pages.ts'
import { partitionedCalls } from './partitions.ts'
import { redisMoving } from './scan.ts'
import { allTags, slotOfName, tagOfSlot } from './slots.ts'
import { withScriptedSpends } from './spends.ts'

export interface RedisOptions extends OptimistSettings {
  /** `redis://`, `redis+cluster://` or `redis+sentinel://`, and `rediss…` with TLS; with credentials if need be. */
  readonly url: string
  /** With TLS: the certificates to trust, as PEM text, instead of those that Node.js trusts. */
  readonly ca?: string
  /** Before every name that Headgate uses on the server; `headgate:`. */
  readonly prefix?: string
  /**
   * Whether spends of plain token buckets go by a script of their own; true, or as `?script=off` of the
   * URL says. It changes no answer.
   */
  readonly script?: boolean
  /** How long an answer may take before a call rejects with STORE_UNAVAILABLE; 2 s. */
  readonly timeout?: Span
}

export interface RedisStore extends SharedStore {
  /**
   * Why the server may lose what it has acknowledged, in words; none if it does not. To be asked before it
   * keeps money or attempts at PINs.
   */
  losses(): Promise<readonly string[]>
  /** What the server is like, by name, for people. */
  inspect(): Promise<Readonly<Record<string, string | number>>>
}

/**
 * Connects at once, and again whenever the connection is lost. Throws REDIS_URL_INVALID.
 *
 * @example
 * import { limiter } from 'headgate'
 * import { redis } from 'headgate/redis'
 *
 * const store = redis('redis://localhost:6379')
 * const exports = limiter({ store, limits: { Exports: { burst: 2, period: '24h' } } })
 * console.log((await exports.spend('Exports', 'ann')).allowed)
 * await store.close()
 */
export const redis = (urlOrOptions: string | RedisOptions): RedisStore => {
  const options = typeof urlOrOptions === 'string' ? { url: urlOrOptions } : urlOrOptions
  const { url, prefix = 'headgate:', timeout = ANSWER_WITHIN } = options
  const address = parseRedisUrl(url)
  const isCluster = address.kind === 'cluster'
  const thing = isCluster ? 'the Redis Cluster store' : 'the Redis store'
  const { script = address.script } = options
  const link = openLink(address, { timeout, ca: options.ca })
  const newLine = openLines({
    thing,
    isAnswer: isRedisReply,
    timeout,
    ...(options.observe && { observe: options.observe }),
  })
  const names = redisNames(prefix)
  const claimsFor = (name: string): string =>
    isCluster ? names.claims(tagOfSlot(slotOfName(name))) : names.claims()
  const line = newLine()
  const lineOf = isCluster ? linesBySlot(newLine) : () => line
  const places = { link, line, lineOf, names, claimsFor, clock: options.clock }
  const allClaims = (): readonly string[] =>
    isCluster ? allTags().map((tag) => names.claims(tag)) : [names.claims()]
  const bell = createBell(wireOf(places), options.observe ?? (() => {}))
  const calls = { ...options, thing, onAppended: bell.rang }
  const store = sharedStore({
    thing,
    open: () => checkFitness(thing, places),
    calls: isCluster
      ? partitionedCalls({ ...calls, link, names, newLine, script })
      : serverCalls({ ...calls, link, line, names, script }),
    pages: redisPages(places),
    moving: redisMoving({ ...places, allClaims }),
    bell,
    partition: isCluster ? (name) => String(slotOfName(name)) : () => '',
    close: link.close,
  })
  return {
    ...store,
    losses: async () => {
      await store.opened()
      return findLosses(places, address.kind)
    },
    inspect: async () => {
      await store.opened()
      return inspectRedis(places)
    },
  }
}

function serverCalls(
  parts: Omit<OptimistOptions, 'backend' | 'seen'> &
    RedisBackendOptions & { readonly script: boolean },
): Optimist {
  const seen = lastSeen()
  const ordinary = optimist({ ...parts, seen, backend: redisBackend(parts) })
  return parts.script ? withScriptedSpends({ ...parts, seen, ordinary }) : ordinary
}

const wireOf = ({ link, line, names: { channel } }: RedisBackendOptions): Wire => ({
  ring: (stream) => line.ask(() => link.call('PUBLISH', channel, stream)),
  hear: (heard, listening) => link.subscribe(channel, heard, listening),
})

/** One for each slot that lists are read in: at most 16,384, of a few words each. */
function linesBySlot(newLine: () => ServerLine): (name: string) => ServerLine {
  const lines = new Map<number, ServerLine>()
  return (name) => {
    const slot = slotOfName(name)
    const line = lines.get(slot) ?? newLine()
    lines.set(slot, line)
    return line
  }
}
