/**
 * A store on a Redis server or cluster that any number of servers share. Its time is the server's; a commit is one
 * script call, and all calls of one moment travel in one.
 */
import type { Span } from '../../core/time.ts'
import { ANSWER_WITHIN, openLine, type ServerLine } from '../remote/line.ts'
import { type OptimistSettings, optimist } from '../remote/optimist.ts'
import { type SharedStore, sharedStore } from '../remote/shared-store.ts'
import { parseRedisUrl } from './address.ts'
import { redisBackend } from './backend.ts'
import { checkFitness, findLosses } from './fitness.ts'
import { isRedisReply, openLink } from './link.ts'
import { redisNames } from './names.ts'
import { redisPages } from './pages.ts'
import { partitionedCalls } from './partitions.ts'
import { slotOfName } from './slots.ts'

export interface RedisOptions extends OptimistSettings {
  /** `redis://`, `rediss://`, `redis+cluster://` or `rediss+cluster://`, with credentials if need be. */
  readonly url: string
  /** Before every name that Headgate uses on the server; `headgate:`. */
  readonly prefix?: string
  /** How long an answer may take before a call rejects with STORE_UNAVAILABLE; 2 s. */
  readonly timeout?: Span
}

export interface RedisStore extends SharedStore {
  /**
   * Why the server may lose what it has acknowledged, in words; none if it does not. To be asked before it
   * keeps money or attempts at PINs.
   */
  losses(): Promise<readonly string[]>
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
  const thing = address.cluster ? 'the Redis Cluster store' : 'the Redis store'
  const link = openLink(address, timeout)
  const newLine = () => openLine({ thing, isAnswer: isRedisReply, timeout })
  const names = redisNames(prefix)
  const places = { link, line: newLine(), names }
  const store = sharedStore({
    thing,
    open: () => checkFitness(thing, places),
    calls: address.cluster
      ? partitionedCalls({ ...options, link, names, newLine, thing })
      : optimist({ ...options, thing, backend: redisBackend(places) }),
    pages: redisPages({
      ...places,
      lineOf: address.cluster ? linesBySlot(newLine) : () => places.line,
    }),
    partition: address.cluster ? (name) => String(slotOfName(name)) : () => '',
    close: link.close,
  })
  return {
    ...store,
    losses: async () => {
      await store.opened()
      return findLosses(places, address.cluster)
    },
  }
}

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
