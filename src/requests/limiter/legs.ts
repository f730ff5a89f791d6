/**
 * The legs of a batch: what it does in each partition, remembered there in the transaction that does
 * it, so that each leg replays by itself.
 *
 * Several calls may carry one operation, one after another or at once: retries, after replies that were
 * lost or late. A leg obeys the newest attempt that it has seen: an older one finds itself overtaken.
 * So whoever charged every leg knows that nobody who came later found one uncharged, and only who finds
 * one uncharged may give the others back.
 */
import { assert } from '../../core/errors.ts'
import { nameOf } from '../../core/names.ts'
import {
  type Commit,
  type Key,
  answer as unchanged,
  type View,
  type Write,
} from '../../core/store.ts'
import { after, type Instant, minutes } from '../../core/time.ts'
import { type BatchResult, charge, giveBack, giving } from './batch.ts'
import type { BucketCharge } from './charge.ts'
import type { OperationClaim } from './claims.ts'
import { decodeTold, encodeTold, type Told, type ToldOutcome, tellOf } from './operations.ts'

export interface Leg {
  /** Where what it did is remembered. */
  readonly key: Key
  readonly charges: readonly BucketCharge[]
  /** Of its charges in the batch. */
  readonly positions: readonly number[]
}

/** Charges of one tag are one leg, whatever partitions the store has today. */
export const legsOf = (
  charges: readonly BucketCharge[],
  hash: string,
  takesPart: (charge: BucketCharge) => boolean,
): readonly Leg[] => {
  const byTag = new Map<string, { charges: BucketCharge[]; positions: number[] }>()
  charges.forEach((charge, position) => {
    if (!takesPart(charge)) return
    const { tag } = charge.bucket
    const leg = byTag.get(tag) ?? { charges: [], positions: [] }
    leg.charges.push(charge)
    leg.positions.push(position)
    byTag.set(tag, leg)
  })
  return [...byTag].map(([tag, leg]) => ({ key: legKey(tag, hash), ...leg }))
}

export const legKey = (tag: string, hash: string): Key => nameOf('legs', tag, hash)

/** Long enough for every attempt to have run out, though the clocks of two partitions differ. */
const FENCED_FOR = minutes(2)

/** An attempt as its legs know it. */
export type Attempt = Pick<OperationClaim, 'generation' | 'attempt' | 'until'> & {
  readonly deadline: Instant
}

export interface LegSpend {
  /**
   * `replayed`: charged by an earlier attempt. `overtaken`: a newer attempt was here before. `late`: past
   * its deadline. `unknown`: the transaction failed, or only its reply was lost.
   */
  readonly state: 'charged' | 'replayed' | 'refused' | 'overtaken' | 'late' | 'unknown'
  readonly told: readonly ToldOutcome[]
}

/** Charges a leg and remembers it; or takes over what an earlier attempt charged. */
export const spendLeg = (view: View, { key, charges }: Leg, attempt: Attempt): Commit<LegSpend> => {
  const held = readLeg(view, key, attempt.generation)
  const isOvertaken =
    held !== undefined &&
    (held.told === undefined ? held.attempt >= attempt.attempt : held.attempt > attempt.attempt)
  if (isOvertaken) return unchanged({ state: 'overtaken', told: [] })
  if (held?.told !== undefined) {
    const { told } = held
    const write = writeLeg(key, attempt, told)
    return { writes: [write], appends: [], result: { state: 'replayed', told } }
  }
  if (view.now > attempt.deadline) return unchanged({ state: 'late', told: [] })
  const result = charge(charges, view)
  const told = tellOf(result, 'spend')
  if (!result.answer.allowed) {
    // Nobody fences the first attempt: there is no older one.
    const fence = attempt.attempt > 1 ? [fenceLeg(key, attempt, view.now)] : []
    const writes = [...result.writes, ...fence]
    return { writes, appends: [], result: { state: 'refused', told } }
  }
  const writes = [...result.writes, writeLeg(key, attempt, told)]
  return { writes, appends: [], result: { state: 'charged', told } }
}

/**
 * Gives back what this attempt or an older one charged, and forgets it. Where nobody knows what became
 * of this attempt (`isUnknown`), it may still arrive, and is fenced off too.
 */
export const undoLeg = (
  view: View,
  { key, charges }: Leg,
  attempt: Attempt,
  isUnknown: boolean,
): Commit<void> => {
  const held = readLeg(view, key, attempt.generation)
  if (held !== undefined && held.attempt > attempt.attempt) return unchanged(undefined)
  const fence = fenceLeg(key, attempt, view.now)
  if (held?.told === undefined) {
    const isFenced = isUnknown || attempt.attempt > 1
    return { writes: isFenced ? [fence] : [], appends: [], result: undefined }
  }
  const { writes } = giveBack(takenBack(charges, held.told), view)
  return { writes: [...writes, fence], appends: [], result: undefined }
}

/** The charges that undo what a leg did, dated. */
export const takenBack = (
  charges: readonly BucketCharge[],
  told: readonly ToldOutcome[],
): readonly BucketCharge[] =>
  charges.flatMap((each, i) => {
    const { left = 0, date } = told[i] ?? {}
    return left > 0 && date !== undefined ? [giving({ ...each, cost: left }, date)] : []
  })

/** Does what cannot be refused, once: a second time it answers what it did. */
export const doLeg = (
  view: View,
  key: Key,
  attempt: Attempt,
  act: () => BatchResult,
): Commit<LegDone> => {
  const held = readLeg(view, key, attempt.generation)
  if (held?.told !== undefined) return unchanged({ told: held.told, state: 'replayed' })
  const result = act()
  const { answer, writes } = result
  const told = tellOf(result, 'reset')
  if (!answer.allowed) return { writes, appends: [], result: { told, state: 'nothing' } }
  const kept = writeLeg(key, attempt, told)
  return { writes: [...writes, kept], appends: [], result: { told, state: 'done' } }
}

export interface LegDone {
  /** `nothing`: there was nothing to give back, and so nothing to remember. */
  readonly state: 'done' | 'replayed' | 'nothing'
  readonly told: readonly Told[]
}

/** What a leg of this generation remembers; undefined if nothing. */
export const recallLeg = (
  view: View,
  key: Key,
  { generation }: Pick<OperationClaim, 'generation'>,
): HeldLeg | undefined => readLeg(view, key, generation)

/** Forgets a leg of an operation that was pushed out of its shard. */
export const forgetLeg = (view: View, key: Key, { generation }: OperationClaim): Commit<void> => {
  const isIts = readLeg(view, key, generation) !== undefined
  return { writes: isIts ? [{ key }] : [], appends: [], result: undefined }
}

/** Outlasts the claim: while that is held, no leg is forgotten. */
export const writeLeg = (
  key: Key,
  { generation, attempt, until }: Omit<Attempt, 'deadline'>,
  told: readonly Told[],
): Write => ({
  key,
  value: `${generation} ${attempt} ${encodeTold(told)}`,
  expiresAt: after(until, FENCED_FOR),
})

export interface HeldLeg {
  readonly attempt: number
  /** Undefined: a fence, which turns away this attempt and older ones. */
  readonly told: readonly Told[] | undefined
}

const FENCE = '-'

function fenceLeg(key: Key, { generation, attempt }: Attempt, now: Instant): Write {
  return {
    key,
    value: `${generation} ${attempt} ${FENCE}`,
    expiresAt: after(now, FENCED_FOR),
  }
}

function readLeg(view: View, key: Key, generation: string): HeldLeg | undefined {
  const [value] = view.read(key)
  if (value === undefined) return undefined
  const [, held, attempt, rest] = /^(\S+) (\d+) (.+)$/s.exec(value) ?? []
  assert(
    held !== undefined && rest !== undefined,
    'a leg has a generation, an attempt and what was told',
  )
  if (held === generation) {
    return { attempt: Number(attempt), told: rest === FENCE ? undefined : decodeTold(rest) }
  }
  return isNewer(held, generation) ? NEWER : undefined
}

/** The id was claimed anew since: the leg turns away whatever the older claim still sends. */
const NEWER: HeldLeg = { attempt: Number.POSITIVE_INFINITY, told: undefined }

/** By their times. Of two in one microsecond neither: a claim must never be turned away by the one before it. */
function isNewer(one: string, other: string): boolean {
  return Number.parseInt(one, 10) > Number.parseInt(other, 10)
}
