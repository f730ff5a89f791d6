/** Compares and sets on a Redis server, by a script, in one round trip. */
import { randomUUID } from 'node:crypto'
import { assert } from '../../core/errors.ts'
import { indexOf } from '../../core/names.ts'
import type { Value, Write } from '../../core/store.ts'
import { type Instant, instant, span, toMillis } from '../../core/time.ts'
import { storeFenced } from '../fence.ts'
import { type Backend, CLAIM, GRACE, type Part, type PartOutcome } from '../remote/backend.ts'
import type { ServerLine } from '../remote/line.ts'
import { isRedisReply, type RedisLink } from './link.ts'
import type { RedisNames } from './names.ts'
import { COMMIT, LOOK, type Script } from './scripts.ts'

export interface RedisBackendOptions {
  readonly link: RedisLink
  readonly line: ServerLine
  readonly names: RedisNames
  /** In a cluster: what the claims of a partition are named by. */
  readonly tag?: string
}

export const redisBackend = ({ link, line, names, tag }: RedisBackendOptions): Backend => {
  const who = randomUUID()
  return {
    commit: async (parts, { now, overridden, maxAge }) => {
      const call: ScriptCall = {
        keys: [names.claims(tag)],
        args: [overridden ? '' : now, maxAge, who, toMillis(CLAIM), parts.length],
      }
      for (const part of parts) enter(call, part, names, now)
      const reply = await line.ask(() => runUnfenced(link, COMMIT, call))
      const [seconds, micros, ...found] = replyList(reply)
      return { now: timeOf(seconds, micros), outcomes: found.map(toOutcome) }
    },
    look: async (keys) => {
      // In a cluster even the time is asked of the server that has the partition.
      const asked = { keys: [names.claims(tag), ...keys.map(names.key)], args: [] }
      const reply = await line.ask(() => runUnfenced(link, LOOK, asked))
      const [seconds, micros, ...found] = replyList(reply)
      const values = found.slice(0, keys.length).map(textOf)
      return { now: timeOf(seconds, micros), values }
    },
  }
}

interface ScriptCall {
  readonly keys: string[]
  readonly args: (string | number)[]
}

/** Adds a part to a call, in the order that the script reads it. */
function enter({ keys, args }: ScriptCall, part: Part, names: RedisNames, now: Instant): void {
  const { expected, guessed, writes, appends, claims } = part
  args.push(expected.size, guessed.length, writes.length, appends.length, claims ? '1' : '')
  for (const [key, value] of expected) {
    keys.push(names.key(key))
    args.push(toArgument(value))
  }
  for (const key of guessed) keys.push(names.key(key))
  const indexes: string[] = []
  for (const write of writes) {
    const index = indexOf(write.key)
    keys.push(names.key(write.key))
    args.push(toArgument(write.value), lifetimeOf(write, now), index === undefined ? '' : '1')
    if (index !== undefined) indexes.push(names.index(index))
  }
  for (const index of indexes) keys.push(index)
  for (const { stream, entry } of appends) {
    keys.push(names.stream(stream))
    args.push(entry)
  }
}

/** A script that refuses where there is a fence: its caller is told so by our own word. */
export const runUnfenced = (
  link: RedisLink,
  script: Script,
  { keys, args }: ScriptCall,
): Promise<unknown> =>
  link.run(script, keys, args).catch((cause: unknown) => {
    const why = isRedisReply(cause) ? /FENCED (.*)$/.exec(String(cause))?.[1] : undefined
    throw why === undefined ? cause : storeFenced('the Redis store', why)
  })

const toArgument = (value: Value | undefined): string => (value === undefined ? '-' : `+${value}`)

/** Relative, for the clock of Redis may be another than the one that decided. */
const lifetimeOf = ({ expiresAt }: Write, now: Instant): number | '' =>
  expiresAt === undefined ? '' : toMillis(span(Math.max(0, expiresAt - now) + GRACE))

export const timeOf = (seconds: unknown, micros: unknown): Instant =>
  instant(Number(seconds) * 1_000_000 + Number(micros))

export function replyList(reply: unknown): readonly unknown[] {
  assert(Array.isArray(reply), 'a script of ours answers a list')
  return reply
}

function toOutcome(found: unknown): PartOutcome {
  if (!Array.isArray(found)) return { kind: 'applied' }
  const [claimed, ...current] = found
  return { kind: 'conflict', current: current.map(textOf), claimed: claimed === 1 }
}

export const textOf = (found: unknown): Value | undefined =>
  typeof found === 'string' ? found : undefined
