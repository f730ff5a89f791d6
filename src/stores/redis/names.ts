/** Where the values, lists and streams of Headgate are among all that a Redis server holds. */
import { assert } from '../../core/errors.ts'

export interface RedisNames {
  key(key: string): string
  /** The key that a name on the server is of. */
  keyOf(name: string): string
  streamOf(name: string): string
  index(index: string): string
  stream(stream: string): string
  /** What keys are kept for whom, for a moment. In a cluster each partition has its own, by a tag. */
  claims(tag?: string): string
  /** Holds the number of the format of all others. */
  readonly format: string
  /** Where servers tell each other that a stream has grown. */
  readonly channel: string
  /** Every name of a key, as SCAN takes it; and of a stream. */
  readonly allKeys: string
  readonly allStreams: string
}

export const redisNames = (prefix: string): RedisNames => {
  // Redis would hash what is in braces there, instead of the tags of names.
  assert(!/[{}]/.test(prefix), 'a prefix of names has no braces')
  const [keys, streams] = [`${prefix}k:`, `${prefix}s:`]
  const all = (start: string): string => `${start.replaceAll(/[\\*?[\]]/g, '\\$&')}*`
  return {
    key: (key) => keys + key,
    keyOf: (name) => name.slice(keys.length),
    index: (index) => `${prefix}i:${index}`,
    stream: (stream) => streams + stream,
    streamOf: (name) => name.slice(streams.length),
    claims: (tag) => (tag === undefined ? `${prefix}claims` : `${prefix}claims:{${tag}}`),
    format: `${prefix}format`,
    channel: `${prefix}followed`,
    allKeys: all(keys),
    allStreams: all(streams),
  }
}
