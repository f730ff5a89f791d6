/** What holds for every history, found by trying many. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import { capacity, decideGcra, type GcraLimit, type GcraState } from './gcra.ts'
import { type Instant, instant, span } from './time.ts'

const RUNS = { numRuns: times(1_000, 200_000) }

const anyLimit = fc
  .record({
    burst: fc.integer({ min: 1, max: 12 }),
    count: fc.integer({ min: 1, max: 12 }),
    period: fc.integer({ min: 12, max: 400 }),
  })
  .map(
    ({ burst, count, period }): GcraLimit => ({ kind: 'gcra', burst, count, period: span(period) }),
  )

type Event =
  | { readonly kind: 'spend'; readonly gap: number; readonly cost: number }
  | { readonly kind: 'check'; readonly gap: number; readonly cost: number }
  | { readonly kind: 'give back'; readonly gap: number; readonly which: number }
  | { readonly kind: 'change'; readonly limit: number }

const gap = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 20_000 }),
)
const cost = fc.integer({ min: 0, max: 13 })
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('spend' as const), gap, cost }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const), gap, cost }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('give back' as const), gap, which: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), limit: fc.nat(2) }) },
)
const limits = fc.tuple(anyLimit, anyLimit, anyLimit)
const history = fc.array(anyEvent, { maxLength: 80 })

interface Admission {
  readonly at: Instant
  readonly cost: number
  /** The share of the bucket that the cost took, under the limit then in force. */
  readonly share: number
  givenBack: boolean
}

/** Between two moments of a history, how much of a bucket time gives back. */
interface Regime {
  readonly from: Instant
  readonly capacity: number
}

/** Plays a history, forgetting expired state whenever `forget` says so. */
const play = (
  choice: readonly GcraLimit[],
  events: readonly Event[],
  forget: (i: number) => boolean = () => false,
) => {
  let limit = choice[0] ?? { kind: 'gcra', burst: 1, count: 1, period: span(1) }
  let state: GcraState | undefined
  let expiresAt: Instant | undefined
  let now = instant(1_000_000)
  const admissions: Admission[] = []
  const regimes: Regime[] = [{ from: now, capacity: capacity(limit) }]
  const answers: unknown[] = []
  for (const [i, event] of events.entries()) {
    if (event.kind === 'change') {
      limit = choice[event.limit] ?? limit
      continue
    }
    now = instant(now + event.gap)
    if (forget(i) && expiresAt !== undefined && expiresAt <= now) state = undefined
    const undone = event.kind === 'give back' ? admissions.at(-1 - event.which) : undefined
    if (event.kind === 'give back' && (undone === undefined || undone.givenBack)) continue
    const outcome = decideGcra(limit, state, {
      now,
      cost: undone?.cost ?? (event.kind === 'give back' ? 0 : event.cost),
      mode: event.kind === 'give back' ? 'refund' : event.kind,
      ...(undone === undefined ? {} : { chargedAt: undone.at }),
    })
    answers.push(outcome.decision)
    if (outcome.next !== undefined) {
      state = outcome.next
      expiresAt = outcome.expiresAt
      regimes.push({ from: now, capacity: capacity(limit) })
    }
    if (undone !== undefined) undone.givenBack = true
    if (event.kind === 'spend' && outcome.decision.allowed) {
      admissions.push({
        at: now,
        cost: event.cost,
        share: event.cost / limit.burst,
        givenBack: false,
      })
    }
  }
  return { admissions, regimes, answers }
}

/** How many bucketfuls flow back between two moments. */
const refilled = (regimes: readonly Regime[], from: Instant, to: Instant): number =>
  regimes.reduce((sum, regime, i) => {
    const until = Math.min(to, regimes[i + 1]?.from ?? to)
    return sum + Math.max(0, until - Math.max(from, regime.from)) / regime.capacity
  }, 0)

test('never more than burst + rate × time is admitted, in any interval of any history', () => {
  fc.assert(
    fc.property(limits, history, (choice, events) => {
      const { admissions, regimes } = play(choice, events)
      const kept = admissions.filter((admission) => !admission.givenBack)
      for (const [i, first] of kept.entries()) {
        let admitted = 0
        for (const last of kept.slice(i)) {
          admitted += last.share
          expect(admitted).toBeLessThanOrEqual(1 + refilled(regimes, first.at, last.at) + 1e-9)
        }
      }
    }),
    RUNS,
  )
})

test('for one limit that is exactly: admitted tokens <= burst + elapsed / T', () => {
  fc.assert(
    fc.property(anyLimit, history, (limit, events) => {
      const { admissions } = play([limit], events)
      const interval = capacity(limit) / limit.burst
      const kept = admissions.filter((admission) => !admission.givenBack)
      for (const [i, first] of kept.entries()) {
        let admitted = 0
        for (const last of kept.slice(i)) {
          admitted += last.cost
          expect(admitted).toBeLessThanOrEqual(limit.burst + (last.at - first.at) / interval)
        }
      }
    }),
    RUNS,
  )
})

test('dropping expired state changes no answer', () => {
  fc.assert(
    fc.property(limits, history, fc.infiniteStream(fc.boolean()), (choice, events, coins) => {
      const kept = play(choice, events)
      const dropped = play(choice, events, () => coins.next().value === true)
      expect(dropped.answers).toEqual(kept.answers)
    }),
    RUNS,
  )
})

const anyState = fc.record({
  tat: fc.integer({ min: 0, max: 50_000 }).map((n) => instant(n)),
  capacity: fc.integer({ min: 1, max: 50_000 }).map((n) => span(n)),
  since: fc.integer({ min: 0, max: 50_000 }).map((n) => instant(n)),
})
const anyNow = fc.integer({ min: 0, max: 50_000 }).map((n) => instant(n))

test('a refusal charges nothing: what it leaves is no fuller and no emptier', () => {
  fc.assert(
    fc.property(anyLimit, anyState, anyNow, cost, (limit, state, now, price) => {
      const look = (held: GcraState) =>
        decideGcra(limit, held, { now, cost: 0, mode: 'check' }).decision
      const { decision, next } = decideGcra(limit, state, { now, cost: price, mode: 'spend' })
      if (!decision.allowed && next !== undefined) expect(look(next)).toEqual(look(state))
    }),
    RUNS,
  )
})

test('toggling a limit up and down frees nothing', () => {
  fc.assert(
    fc.property(anyLimit, anyLimit, anyState, anyNow, (here, there, state, now) => {
      const felt = (limit: GcraLimit, held: GcraState | undefined) =>
        decideGcra(limit, held, { now, cost: limit.burst + 1, mode: 'spend' })
      const used = (held: GcraState | undefined) =>
        Number(decideGcra(here, held, { now, cost: 0, mode: 'check' }).decision.resetIn)
      const once = felt(there, state).next ?? state
      const back = felt(here, once).next ?? once
      expect(used(back)).toBeGreaterThanOrEqual(used(state))
    }),
    RUNS,
  )
})

test('whoever waits as told is admitted, and a microsecond earlier is refused', () => {
  fc.assert(
    fc.property(anyLimit, anyState, anyNow, cost, (limit, state, now, price) => {
      const first = decideGcra(limit, state, { now, cost: price, mode: 'spend' })
      const { allowed, retryIn } = first.decision
      if (allowed || retryIn === 'never') return
      const held = first.next ?? state
      const later = (wait: number) =>
        decideGcra(limit, held, { now: instant(now + wait), cost: price, mode: 'check' }).decision
          .allowed
      expect(later(retryIn)).toBe(true)
      expect(later(retryIn - 1)).toBe(false)
    }),
    RUNS,
  )
})
