/**
 * Token buckets by the Generic Cell Rate Algorithm: one number, the theoretical arrival time (TAT),
 * instead of a count of tokens.
 *
 * Think of the TAT as the moment at which the bucket will be full again. A bucket that holds
 * `burst` tokens is emptied by pushing its TAT `burst · T` into the future, where `T`, the emission
 * interval, is the time one token takes to come back. A request fits if the TAT stays within that
 * reach: `max(now, TAT) + cost·T <= now + burst·T`. So exactly `burst` requests fit at once.
 *
 * What is admitted less what is given back stays within `largest burst × (1 + resets) + largest rate
 * × (newest − oldest time)`, while clocks step and servers disagree on the limit; as far back as the
 * state is remembered.
 */
import { type LargestUse, owedToLargest, rescale } from './changed-limit.ts'
import { assert } from './errors.ts'
import type {
  Allowed,
  ChargeDate,
  Decision,
  Outcome,
  Question,
  RefusalReason,
  Refused,
} from './limit.ts'
import { readNumbers } from './numbers.ts'
import type { Value } from './store.ts'
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
  /** Burst and interval of the limit that wrote this state: by them a changed limit is noticed. */
  readonly burst: number
  readonly interval: Span
  /** The newest time at which it was written. The bucket's own time never runs back behind it. */
  readonly seen: Instant
  /** Names the filling: when the bucket was last full, or its limit last changed; never the same twice. */
  readonly since: Instant
  /** What is still owed to a larger limit; see `Largest`. Absent as long as all agree on the limit. */
  readonly largest: Largest | undefined
}

/**
 * The same bucket under the largest burst and the smallest interval that it was charged under. A
 * smaller limit counts the tokens used as fewer; without this, servers that disagree on a limit, or
 * a limit that goes down and up, would admit them again. Kept until it is full.
 */
interface Largest {
  readonly tat: Instant
  readonly burst: number
  readonly interval: Span
}

/** Time and the largest capacity must add up within 2^53; this leaves room until the year 2170. */
export const MAX_CAPACITY = 2 ** 52

/** Rounded up, so that rounding never admits more than was configured. */
export const emissionInterval = (limit: GcraLimit): Span =>
  span(Math.ceil(limit.period / limit.count))

/** The time in which an empty bucket fills. */
export const capacity = (limit: GcraLimit): Span => span(limit.burst * emissionInterval(limit))

/**
 * Decides one question about one bucket. Pure: the caller keeps the state and knows the time.
 *
 * @example
 * import { decideGcra, type GcraLimit, instant, minutes } from 'headgate/core'
 *
 * const limit: GcraLimit = { kind: 'gcra', burst: 2, count: 2, period: minutes(1) }
 * const { decision } = decideGcra(limit, undefined, { now: instant(0), cost: 1, mode: 'spend' })
 * console.log(decision.allowed, decision.remaining)
 */
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

/**
 * The bucket full, whatever was charged; undefined if it is, so that a store may have forgotten it. What
 * is kept is no charge: it makes the next filling another one, even within the same microsecond, and
 * keeps the bucket's time from running back.
 */
export const fillGcra = (
  stored: GcraState,
  now: Instant,
): Required<Pick<Outcome<GcraState>, 'next' | 'expiresAt'>> | undefined => {
  const { burst, interval, tat, largest } = stored
  const time = stored.seen > now ? stored.seen : now
  if (tat <= time && (largest === undefined || largest.tat <= time)) return undefined
  const since = nextFilling(stored.since, time)
  return {
    next: { tat: time, burst, interval, seen: time, since, largest: undefined },
    expiresAt: instant(since + 1),
  }
}

/** What a give-back must know of the charge that wrote this state; not of a record past the cap. */
export const chargeDate = ({ seen, since, interval }: GcraState): ChargeDate => ({
  at: seen,
  since,
  interval,
})

/** A bucket as the limit in force sees it now. */
interface Bucket {
  readonly burst: number
  readonly interval: Span
  readonly capacity: Span
  /** The bucket's own time: the store's, or if that went back, the newest at which it was written. */
  readonly time: Instant
  /** How far the store's time is behind the bucket's. Until it has caught up, nothing flows in. */
  readonly behind: number
  /** How far the TAT lies ahead: 0 is a full bucket, `capacity` an empty one. */
  readonly used: Span
  readonly since: Instant
  /** Only while it is not full. */
  readonly largest: LargestUse | undefined
  /** The stored TAT was measured by another limit, and had to be translated. */
  readonly rebased: boolean
}

function open(limit: GcraLimit, stored: GcraState | undefined, now: Instant): Bucket {
  const interval = emissionInterval(limit)
  if (stored === undefined) return filled(limit.burst, interval, now, 0)
  // Time that has already refilled this bucket does not refill it again.
  const time = stored.seen > now ? stored.seen : now
  const behind = time - now
  const largest = stored.largest && stored.largest.tat > time ? stored.largest : undefined
  // A TAT in the past is a full bucket: it must not save up a larger burst.
  const ahead = stored.tat > time ? stored.tat - time : 0
  if (ahead === 0 && largest === undefined) {
    return filled(limit.burst, interval, time, behind, nextFilling(stored.since, time))
  }
  const rebased = stored.burst !== limit.burst || stored.interval !== interval
  const used = rebased
    ? rescale(ahead, stored.burst * stored.interval, limit.burst * interval)
    : ahead
  return {
    burst: limit.burst,
    interval,
    capacity: span(limit.burst * interval),
    time,
    behind,
    used: span(used),
    since: ahead === 0 || rebased ? nextFilling(stored.since, time) : stored.since,
    largest: rebased
      ? owedToLargest(limit.burst, interval, used, largestUse(stored, largest, time))
      : largest && largestUse(stored, largest, time),
    rebased,
  }
}

function filled(
  burst: number,
  interval: Span,
  time: Instant,
  behind: number,
  since = time,
): Bucket {
  return {
    burst,
    interval,
    capacity: span(burst * interval),
    time,
    behind,
    used: span(0),
    since,
    largest: undefined,
    rebased: false,
  }
}

/** Later than the last one also within one tick of the clock: no two fillings share a `since`. */
function nextFilling(since: Instant, time: Instant): Instant {
  return time > since ? time : instant(since + 1)
}

/** What was used under the largest limit so far: without one, the limit that wrote the state is it. */
function largestUse(stored: GcraState, largest: Largest | undefined, time: Instant): LargestUse {
  const { burst, interval, tat } = largest ?? stored
  return { burst, interval, used: span(tat > time ? tat - time : 0) }
}

function fits({ used, interval, capacity, largest }: Bucket, { cost }: Question<number>): boolean {
  return (
    used + cost * interval <= capacity &&
    (largest === undefined || largest.used + cost * largest.interval <= whole(largest))
  )
}

function whole({ burst, interval }: LargestUse): number {
  return burst * interval
}

function charge(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const { cost, mode } = question
  const decision = allow(bucket, question)
  if (cost === 0 && !bucket.rebased) return { decision }
  const { used, interval, largest, since, time } = bucket
  // Past the cap less was taken than recorded: what is given back afterwards might be the rest of it.
  const filling = mode === 'record' && !fits(bucket, question) ? nextFilling(since, time) : since
  const owed = largest && plus(largest.used, cost * largest.interval, whole(largest))
  return written(decision, bucket, plus(used, cost * interval, bucket.capacity), owed, filling)
}

/** A bucket holds no debt: what is recorded past the cap empties it, and no more. */
function plus(used: number, added: number, most: number): Span {
  return span(Math.min(used + added, most))
}

/**
 * Charges nothing. A translated TAT is written down all the same: otherwise the old limit would go
 * on setting the pace at which an empty bucket fills, and no token would come within `T`.
 */
function refuse(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const decision = refusal(bucket, question)
  return bucket.rebased
    ? written(decision, bucket, bucket.used, bucket.largest?.used, bucket.since)
    : { decision }
}

/**
 * Allowed says whether anything was given back. A full bucket takes nothing. An undated refund does
 * not know what it gives back: charges from before it are given back no more, they may be among it.
 */
function refund(bucket: Bucket, question: Question<number>): Outcome<GcraState> {
  const { largest } = bucket
  const back = owed(bucket, bucket.interval, bucket.used, question)
  const backToLargest = largest ? owed(bucket, largest.interval, largest.used, question) : 0
  const used = span(bucket.used - back)
  const left = largest && span(largest.used - backToLargest)
  const facts = {
    remaining: tokensLeft(bucket, used, left),
    resetIn: untilFull(bucket, used, left),
    retryIn: span(0),
  }
  if (back + backToLargest === 0) {
    return { decision: { allowed: false, reason: 'NOTHING_TO_RETURN', ...facts } }
  }
  const { time, since } = bucket
  const filling = question.date === undefined ? nextFilling(since, time) : since
  return written({ allowed: true, ...facts }, bucket, used, left, filling)
}

/**
 * A dated give-back returns only what time has not forgiven already, and only to the filling and
 * under the limit that was charged: otherwise the charge is forgiven, or measured in another limit's
 * tokens. So no give-back admits more than if the charge had never been made.
 */
function owed(bucket: Bucket, interval: Span, used: Span, question: Question<number>): number {
  const { cost, date } = question
  if (date === undefined) return Math.min(cost * interval, used)
  if (date.since !== bucket.since || date.interval !== bucket.interval) return 0
  return Math.min(Math.max(0, cost * interval - (bucket.time - date.at)), used)
}

function allow(bucket: Bucket, { cost }: Question<number>): Allowed {
  const { largest } = bucket
  const used = plus(bucket.used, cost * bucket.interval, bucket.capacity)
  const owed = largest && plus(largest.used, cost * largest.interval, whole(largest))
  return {
    allowed: true,
    remaining: tokensLeft(bucket, used, owed),
    resetIn: untilFull(bucket, used, owed),
    retryIn: waitFor(bucket, cost, used, owed),
  }
}

function refusal(bucket: Bucket, { cost }: Question<number>): Refused {
  const { used } = bucket
  const owed = bucket.largest?.used
  const retryIn = waitFor(bucket, cost, used, owed)
  const reason: RefusalReason = retryIn === 'never' ? 'COST_ABOVE_BURST' : 'RATE_LIMIT'
  return {
    allowed: false,
    reason,
    remaining: tokensLeft(bucket, used, owed),
    resetIn: untilFull(bucket, used, owed),
    retryIn,
  }
}

/** Until so many tokens fit into a bucket of which so much is used; of both, if there is a larger. */
function waitFor(
  { burst, interval, capacity, largest, behind }: Bucket,
  cost: number,
  used: number,
  owed: number | undefined,
): Span | 'never' {
  if (cost > burst) return 'never'
  let wait = used + cost * interval - capacity
  if (largest !== undefined && owed !== undefined) {
    wait = Math.max(wait, owed + cost * largest.interval - whole(largest))
  }
  return span(wait > 0 ? wait + behind : 0)
}

function untilFull({ behind }: Bucket, used: Span, owed: Span | undefined): Span {
  const wait = owed !== undefined && owed > used ? owed : used
  return span(wait > 0 ? wait + behind : 0)
}

function tokensLeft(
  { capacity, interval, largest }: Bucket,
  used: Span,
  owed: Span | undefined,
): number {
  const left = Math.floor((capacity - used) / interval)
  if (largest === undefined || owed === undefined) return left
  return Math.min(left, Math.floor((whole(largest) - owed) / largest.interval))
}

// Field by field, here and above: copying objects of doubles by spreading doubled the whole cost.
function written(
  decision: Decision,
  bucket: Bucket,
  used: Span,
  owed: Span | undefined,
  since: Instant,
): Outcome<GcraState> {
  const { burst, interval, time } = bucket
  const tat = instant(time + used)
  const largest = largestState(bucket, owed)
  // Past its filling's `since` too: once this is forgotten, the next filling begins at a later time.
  const full = Math.max(tat, largest === undefined ? tat : largest.tat, since + 1)
  return {
    decision,
    next: { tat, burst, interval, seen: time, since, largest },
    expiresAt: instant(full),
  }
}

function largestState({ largest, time }: Bucket, owed: Span | undefined): Largest | undefined {
  if (largest === undefined || owed === undefined || owed === 0) return undefined
  return { tat: instant(time + owed), burst: largest.burst, interval: largest.interval }
}

/** Distances instead of moments where it can: short numbers are read faster, and a million kept smaller. */
export const encodeGcra = ({ tat, seen, since, burst, interval, largest }: GcraState): Value => {
  const plain = `${seen} ${tat - seen} ${seen - since} ${burst} ${interval}`
  if (largest === undefined) return plain
  return `${plain} ${largest.tat - seen} ${largest.burst} ${largest.interval}`
}

/** The numbers of the state that is being decoded: none outlives the call. */
const NUMBERS = new Float64Array(8)

const numberAt = (place: number): number => NUMBERS[place] ?? 0

export const decodeGcra = (value: Value): GcraState => {
  const found = readNumbers(value, NUMBERS, 5, 8)
  const seen = numberAt(0)
  return {
    tat: instant(seen + numberAt(1)),
    burst: numberAt(3),
    interval: span(numberAt(4)),
    seen: instant(seen),
    since: instant(seen - numberAt(2)),
    largest: found === 5 ? undefined : decodeLargest(seen),
  }
}

function decodeLargest(seen: number): Largest {
  return { tat: instant(seen + numberAt(5)), burst: numberAt(6), interval: span(numberAt(7)) }
}
