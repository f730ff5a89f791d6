/**
 * Token buckets by the Generic Cell Rate Algorithm: one number, the theoretical arrival time (TAT),
 * instead of a count of tokens.
 *
 * Think of the TAT as the moment at which the bucket will be full again. A bucket that holds
 * `burst` tokens is emptied by pushing its TAT `burst · T` into the future, where `T`, the emission
 * interval, is the time one token takes to come back. A request fits if the TAT stays within that
 * reach: `max(now, TAT) + cost·T <= now + burst·T`. So exactly `burst` requests fit at once.
 */
import { assert } from './errors.ts'
import type { Allowed, Decision, Outcome, Question, RefusalReason, Refused } from './limit.ts'
import { type Instant, instant, type Span, span } from './time.ts'

export interface GcraLimit {
  readonly kind: 'gcra'
  /** How many tokens the bucket holds. */
  readonly burst: number
  /** How many tokens come back every period. */
  readonly count: number
  readonly period: Span
}

export interface GcraState {
  readonly tat: Instant
  /** The capacity of the limit that wrote this state: by this a changed limit is noticed. */
  readonly capacity: Span
  /** When the bucket was last full, or its limit last changed. Older charges are not given back. */
  readonly since: Instant
}

/** Time and the largest capacity must add up within 2^53; this leaves room until the year 2170. */
export const MAX_CAPACITY = 2 ** 52

/** Rounded up, so that rounding never admits more than was configured. */
export const emissionInterval = (limit: GcraLimit): Span =>
  span(Math.ceil(limit.period / limit.count))

/** The time in which an empty bucket fills. */
export const capacity = (limit: GcraLimit): Span => span(limit.burst * emissionInterval(limit))

export const decideGcra = (
  limit: GcraLimit,
  stored: GcraState | undefined,
  question: Question<number>,
): Outcome<GcraState> => {
  assert(Number.isSafeInteger(question.cost) && question.cost >= 0, 'a cost is a whole number')
  const bucket = open(limit, stored, question.now)
  switch (question.mode) {
    case 'spend':
    case 'try':
      return fits(bucket, question) ? charge(bucket, question) : refuse(bucket, question)
    case 'check':
      return {
        decision: fits(bucket, question) ? allow(bucket, question) : refusal(bucket, question),
      }
    case 'record':
      return charge(bucket, question)
    case 'refund':
      return refund(bucket, question)
    default:
      return question.mode satisfies never
  }
}

/** A bucket as the limit in force sees it now. */
interface Bucket {
  readonly interval: Span
  readonly capacity: Span
  /** How far the TAT lies ahead: 0 is a full bucket, `capacity` an empty one. */
  readonly used: Span
  readonly since: Instant
  /** The stored TAT was measured by another limit or another clock, and had to be translated. */
  readonly rebased: boolean
}

function open(limit: GcraLimit, stored: GcraState | undefined, now: Instant): Bucket {
  const interval = emissionInterval(limit)
  const whole = span(limit.burst * interval)
  // A TAT in the past is a full bucket: it must not save up a larger burst.
  if (stored === undefined || stored.tat <= now) {
    return { interval, capacity: whole, used: span(0), since: now, rebased: false }
  }
  const ahead = stored.tat - now
  if (stored.capacity === whole && ahead <= whole) {
    return { interval, capacity: whole, used: span(ahead), since: stored.since, rebased: false }
  }
  // Another limit wrote this, or the clock went back. What was charged before counts, but is given
  // back no more: `since` lies just after now, as charges of this very microsecond came before.
  const used = rescale(ahead, stored.capacity, whole)
  return { interval, capacity: whole, used, since: instant(now + 1), rebased: true }
}

/**
 * Full stays full, empty stays empty, and further ahead than empty (the clock went back) is cut to
 * empty. Rounded up, and through bigint: the product passes 2^53.
 */
function rescale(ahead: number, from: Span, to: Span): Span {
  const scaled = (BigInt(ahead) * BigInt(to) + BigInt(from) - 1n) / BigInt(from)
  return span(Math.min(Number(scaled), to))
}

function fits({ used, interval, capacity }: Bucket, { cost }: Question<number>): boolean {
  return used + cost * interval <= capacity
}

function charge(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const decision = allow(bucket, question)
  if (question.cost === 0 && !bucket.rebased) return { decision }
  // A bucket holds no debt: what is recorded past the cap empties it, and no more.
  const used = span(Math.min(bucket.used + question.cost * bucket.interval, bucket.capacity))
  return written(decision, bucket, used, question.now)
}

/**
 * Charges nothing. A translated TAT is written down all the same: otherwise the old limit would go
 * on setting the pace at which an empty bucket fills, and no token would come within `T`.
 */
function refuse(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const decision = refusal(bucket, question)
  return bucket.rebased ? written(decision, bucket, bucket.used, question.now) : { decision }
}

/** Allowed says whether anything was given back. A full bucket takes nothing. */
function refund(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const back = Math.min(owed(bucket, question), bucket.used)
  const used = span(bucket.used - back)
  const facts = { remaining: tokens(bucket, used), resetIn: used, retryIn: span(0) }
  return back > 0
    ? written({ allowed: true, ...facts }, bucket, used, question.now)
    : { decision: { allowed: false, reason: 'full', ...facts } }
}

/**
 * A dated give-back returns only what time has not forgiven already, and nothing from before the
 * bucket was last full or its limit last changed: then the charge is forgiven, or measured in
 * another limit's tokens. So no give-back admits more than if the charge had never been made.
 */
function owed({ interval, since }: Bucket, { now, cost, chargedAt }: Question<number>): number {
  if (chargedAt === undefined) return cost * interval
  if (chargedAt < since) return 0
  return Math.max(0, cost * interval - Math.max(0, now - chargedAt))
}

function allow(bucket: Bucket, { cost }: Question<number>): Allowed {
  const used = Math.min(bucket.used + cost * bucket.interval, bucket.capacity)
  const slack = bucket.capacity - used
  return {
    allowed: true,
    remaining: Math.floor(slack / bucket.interval),
    resetIn: span(used),
    retryIn: waitFor(bucket, cost, slack),
  }
}

function refusal(bucket: Bucket, { cost }: Question<number>): Refused {
  const retryIn = waitFor(bucket, cost, bucket.capacity - bucket.used)
  const reason: RefusalReason = retryIn === 'never' ? 'cost' : 'rate'
  return {
    allowed: false,
    reason,
    remaining: tokens(bucket, bucket.used),
    resetIn: bucket.used,
    retryIn,
  }
}

function waitFor(bucket: Bucket, cost: number, slack: number): Span | 'never' {
  const needed = cost * bucket.interval
  return needed > bucket.capacity ? 'never' : span(Math.max(0, needed - slack))
}

function tokens({ capacity, interval }: Bucket, used: Span): number {
  return Math.floor((capacity - used) / interval)
}

// Field by field, here and above: copying objects of doubles by spreading doubled the whole cost.
function written(
  decision: Decision,
  { capacity, since }: Bucket,
  used: Span,
  now: Instant,
): Outcome<GcraState> {
  const tat = instant(now + used)
  return { decision, next: { tat, capacity, since }, expiresAt: tat }
}
