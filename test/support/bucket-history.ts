/**
 * Random histories of one bucket that several servers share, each with a limit of its own: every
 * verb, clock steps both ways, limit changes, resets, and a store that forgets what has expired.
 */
import fc from 'fast-check'
import {
  chargeDate,
  decideGcra,
  emissionInterval,
  fillGcra,
  type GcraLimit,
  type GcraState,
} from '../../src/core/gcra.ts'
import type { ChargeDate, Decision, Mode } from '../../src/core/limit.ts'
import { type Instant, instant, span } from '../../src/core/time.ts'

export const anyLimit = fc
  .record({
    burst: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 12 }) },
      { weight: 1, arbitrary: fc.constant(100) },
    ),
    count: fc.integer({ min: 1, max: 12 }),
    period: fc.integer({ min: 12, max: 400 }),
  })
  .map(
    ({ burst, count, period }): GcraLimit => ({ kind: 'gcra', burst, count, period: span(period) }),
  )

export const limits = fc.tuple(anyLimit, anyLimit, anyLimit)

export type BucketEvent =
  | {
      readonly kind: 'spend' | 'try' | 'check' | 'record' | 'undated'
      readonly server: number
      readonly cost: number
    }
  | { readonly kind: 'give back'; readonly server: number; readonly which: number }
  | { readonly kind: 'change'; readonly server: number; readonly limit: number }
  | { readonly kind: 'step'; readonly by: number }
  | { readonly kind: 'live' | 'reset' }

const server = fc.nat(2)
export const anyCost = fc.integer({ min: 0, max: 13 })
/** Mostly short: after a long time every bucket is full, and nothing is left to go wrong. */
const forth = fc.oneof(
  { weight: 4, arbitrary: fc.nat(5) },
  { weight: 4, arbitrary: fc.nat(300) },
  { weight: 1, arbitrary: fc.nat(20_000) },
)
const back = forth.map((by) => -by)

const histories = (clock: fc.Arbitrary<number>): fc.Arbitrary<BucketEvent[]> => {
  const asked = fc.constantFrom('spend', 'spend', 'spend', 'try', 'check', 'record')
  const undone = fc.constant('give back')
  const event: fc.Arbitrary<BucketEvent> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: asked, server, cost: anyCost }) },
    { weight: 2, arbitrary: fc.record({ kind: undone, server, which: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('change'), server, limit: fc.nat(2) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('step'), by: clock }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('live', 'reset') }) },
  )
  return fc.array(event, { maxLength: 80 })
}

export const history = histories(fc.oneof(forth, back))
/** The clock goes forwards only. */
export const forthHistory = histories(forth)

/** An operator's undated refund, which knows not what it gives back. */
export const undatedRefund: fc.Arbitrary<BucketEvent> = fc.record({
  kind: fc.constant('undated'),
  server,
  cost: anyCost,
})

interface Admission {
  readonly cost: number
  readonly date: ChargeDate
  givenBack: boolean
}

const START = instant(1_000_000)

/** The bucket as a store keeps it; `forget` says when the store drops a state that has expired. */
export const sharedBucket = (choice: readonly GcraLimit[], forget: () => boolean = () => false) => {
  const held = choice.slice(0, 2)
  const limitOf = (of: number): GcraLimit => held[of % held.length] ?? LEAST
  /** By the number of the event that made them. */
  const admissions = new Map<number, Admission>()
  const sums = { admitted: 0, givenBack: 0, resets: 0, burst: 0, interval: Number.MAX_VALUE }
  let state: GcraState | undefined
  let expiresAt: Instant | undefined
  let now = START
  let oldest = START
  let newest = START
  /** Clocks step both ways, but not behind a time that the store has lived through and swept by. */
  let livedThrough = START

  const keep = (next: GcraState | undefined, until: Instant | undefined): void => {
    if (next === undefined) return
    state = next
    expiresAt = until
  }
  const look = (limit: GcraLimit, mode: Mode): void => {
    if (forget() && expiresAt !== undefined && expiresAt <= livedThrough) state = undefined
    oldest = instant(Math.min(oldest, now))
    newest = instant(Math.max(newest, now))
    if (mode === 'check') return
    sums.burst = Math.max(sums.burst, limit.burst)
    sums.interval = Math.min(sums.interval, emissionInterval(limit))
  }

  const ask = (of: number, mode: Mode, cost: number, event = -1): Decision => {
    const limit = limitOf(of)
    look(limit, mode)
    const outcome = decideGcra(limit, state, { now, cost, mode })
    const { decision, next } = outcome
    const admits = (mode === 'spend' || mode === 'try') && decision.allowed && cost > 0
    if (admits && next !== undefined) {
      sums.admitted += cost
      admissions.set(event, { cost, date: chargeDate(next), givenBack: false })
    }
    keep(next, outcome.expiresAt)
    return decision
  }

  const giveBack = (of: number, admission: Admission): Decision => {
    const limit = limitOf(of)
    look(limit, 'refund')
    admission.givenBack = true
    const { cost, date } = admission
    const before = state
    const outcome = decideGcra(limit, before, { now, cost, mode: 'refund', date })
    const { next } = outcome
    // What really came back, which may be less than the cost: the harder bound.
    if (next && before) sums.givenBack += (before.tat - next.tat) / next.interval
    keep(next, outcome.expiresAt)
    return outcome.decision
  }

  const reset = (): void => {
    if (state === undefined) return
    const full = fillGcra(state, now)
    if (full === undefined) return
    sums.resets += 1
    keep(full.next, full.expiresAt)
  }

  return {
    sums,
    state: () => state,
    now: () => now,
    elapsed: () => newest - oldest,
    limitOf,
    ask,
    admission: (event: number) => admissions.get(event),
    giveBack,
    happen: (event: BucketEvent, number: number): Decision | undefined => {
      switch (event.kind) {
        case 'change':
          held[event.server % held.length] = choice[event.limit] ?? LEAST
          return undefined
        case 'step':
          now = instant(Math.max(livedThrough, now + event.by))
          return undefined
        case 'live':
          livedThrough = now
          return undefined
        case 'reset':
          reset()
          return undefined
        case 'give back': {
          const undone = [...admissions.values()].at(-1 - event.which)
          return undone === undefined || undone.givenBack
            ? undefined
            : giveBack(event.server, undone)
        }
        case 'undated':
          return ask(event.server, 'refund', event.cost)
        default:
          return ask(event.server, event.kind, event.cost, number)
      }
    },
  }
}

const LEAST: GcraLimit = { kind: 'gcra', burst: 1, count: 1, period: span(1) }
