/**
 * Where a store has partitions, an operation id is claimed before any of its legs is charged. The
 * claim is the locator of the operation: it binds the id to one question, and names the buckets, and so
 * the legs, of a refund by the bare id. It lies in the partition of its shard.
 *
 * Nothing is written when an operation is done: it is the legs that tell. So a claim that a crash has
 * left goes when an answer would, and until then the id takes the same question only.
 */
import { assert } from '../../core/errors.ts'
import { enterShard, leaveShard } from '../../core/shards.ts'
import {
  type Commit,
  type Key,
  answer as unchanged,
  type Value,
  type View,
} from '../../core/store.ts'
import { after, type Instant, instant, type Span, seconds } from '../../core/time.ts'
import { decodeAsks, encodeAsks, type OperationNames, type ToldAsk } from './operations.ts'

/** How long one attempt may charge legs. One that is slower has lost its claim, and gives back. */
const ATTEMPT_FOR = seconds(30)

/** What the outcome of a charge takes in a leg, with the rest of the leg's name. */
const LEG_LENGTH = 200

export interface OperationClaim {
  /**
   * When the id was claimed, and chance: no two are alike, so legs of an operation that was forgotten are
   * not taken for its own; and of two the newer is known, so a call that comes late from the older does nothing.
   */
  readonly generation: string
  /** Grows with each call that takes the operation over; a leg obeys the newest that it has seen. */
  readonly attempt: number
  readonly until: Instant
  readonly asks: readonly ToldAsk[]
}

export interface Claimed extends OperationClaim {
  /** Nobody has claimed the id before. */
  readonly isFresh: boolean
  readonly deadline: Instant
  /** What had to go for it. */
  readonly pushedOut: readonly string[]
}

export interface ClaimTerms {
  readonly digest: string
  readonly asks: readonly ToldAsk[]
  /** Chance, drawn by the caller: a step that runs again must decide the same. */
  readonly nonce: string
  readonly rememberFor: Span
  reused(): Error
}

/** Claims an id, or takes it over from whoever asked the same before. */
export const claimOperation = (
  view: View,
  { key, shard }: OperationNames,
  { digest, asks, nonce, rememberFor, reused }: ClaimTerms,
): Commit<Claimed> => {
  const [value, list] = view.read(key, shard.key)
  const held = value === undefined ? undefined : openClaim(value)
  const deadline = after(view.now, ATTEMPT_FOR)
  if (held !== undefined && held.until > view.now) {
    if (held.digest !== digest) throw reused()
    const next = { ...held, attempt: held.attempt + 1 }
    const write = { key, value: sealClaim(digest, next), expiresAt: held.until }
    const result = { ...next, isFresh: false, deadline, pushedOut: [] }
    return { writes: [write], appends: [], result }
  }
  const until = after(view.now, rememberFor)
  const claim = { generation: `${view.now}-${nonce}`, attempt: 1, until, asks }
  const sealed = sealClaim(digest, claim)
  // The legs repeat what was asked, and have the ids in their names too.
  const named = asks.reduce((sum, { asked }) => sum + (asked.id?.length ?? 0) + LEG_LENGTH, 0)
  const length = key.length + 2 * sealed.length + named
  const { write, pushedOut } = enterShard(shard, list, { length, until }, view.now)
  return {
    writes: [{ key, value: sealed, expiresAt: until }, write],
    appends: [],
    result: { ...claim, isFresh: true, deadline, pushedOut },
  }
}

/** Lets go of a claim under which nothing is charged, unless another call has taken it over. */
export const releaseClaim = (
  view: View,
  { key, shard }: OperationNames,
  { generation, attempt }: OperationClaim,
): Commit<void> => {
  const [value, list] = view.read(key, shard.key)
  const held = value === undefined ? undefined : openClaim(value)
  if (held?.generation !== generation || held.attempt !== attempt) return unchanged(undefined)
  const left = leaveShard(shard, list)
  return {
    writes: left === undefined ? [{ key }] : [{ key }, left],
    appends: [],
    result: undefined,
  }
}

export const readClaim = (view: View, key: Key): OperationClaim | undefined => {
  const [value] = view.read(key)
  const held = value === undefined ? undefined : openClaim(value)
  return held === undefined || held.until <= view.now ? undefined : held
}

/** Deletes the claims of entries that were pushed out, and says what they were. */
export const forgetClaims = (
  view: View,
  { shard }: OperationNames,
  entries: readonly string[],
): Commit<readonly { readonly entry: string; readonly claim: OperationClaim }[]> => {
  const [list = '', ...values] = view.read(shard.key, ...entries.map(shard.keyOf))
  const gone = entries.flatMap((entry, i) => {
    const value = values[i]
    // Claimed anew meanwhile, it has a place of its own.
    if (value === undefined || list.includes(`${entry},`)) return []
    return [{ entry, claim: openClaim(value) }]
  })
  const writes = gone.map(({ entry }) => ({ key: shard.keyOf(entry) }))
  return { writes, appends: [], result: gone }
}

interface HeldClaim extends OperationClaim {
  readonly digest: string
}

function sealClaim(digest: string, { generation, attempt, until, asks }: OperationClaim): Value {
  return `${digest} ${until} ${generation} ${attempt} ${encodeAsks(asks)}`
}

function openClaim(value: Value): HeldClaim {
  const [, digest, until, generation, attempt, asks] =
    /^(\S+) (\d+) (\S+) (\d+) (.*)$/s.exec(value) ?? []
  assert(
    digest !== undefined && generation !== undefined && asks !== undefined,
    'a claim has a digest, an end, a generation, an attempt and what was asked',
  )
  return {
    digest,
    generation,
    until: instant(Number(until)),
    attempt: Number(attempt),
    asks: decodeAsks(asks),
  }
}
