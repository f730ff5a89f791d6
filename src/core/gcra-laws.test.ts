/** What holds for every history, found by trying many. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  anyCost,
  anyLimit,
  type BucketEvent,
  forthHistory,
  history,
  limits,
  sharedBucket,
  undatedRefund,
} from '../../test/support/bucket-history.ts'
import { times } from '../../test/support/counts.ts'
import { decideGcra, emissionInterval, type GcraLimit, type GcraState } from './gcra.ts'
import type { Decision } from './limit.ts'
import { instant } from './time.ts'

const RUNS = { numRuns: times(1_000, 200_000) }

const coins = fc.infiniteStream(fc.boolean())
const flip = (stream: Iterator<boolean>) => () => stream.next().value === true

test('admitted − given back <= largest burst × (1 + resets) + largest rate × (newest − oldest), always', () => {
  fc.assert(
    fc.property(limits, history, coins, (choice, events, stream) => {
      const { happen, sums, elapsed } = sharedBucket(choice, flip(stream))
      for (const [i, event] of events.entries()) {
        happen(event, i)
        const bound = sums.burst * (1 + sums.resets) + elapsed() / sums.interval
        expect(sums.admitted - sums.givenBack).toBeLessThanOrEqual(bound + 1e-9)
      }
    }),
    RUNS,
  )
})

test('the bound is sharp: one limit, spent whenever it fits, admits burst and rate to the token', () => {
  fc.assert(
    fc.property(anyLimit, fc.integer({ min: 1, max: 30 }), (limit, tokens) => {
      const { ask, happen, sums, elapsed } = sharedBucket([limit])
      for (let i = 0; i < limit.burst; i++) ask(0, 'spend', 1)
      for (let i = 0; i < tokens; i++) {
        happen({ kind: 'step', by: emissionInterval(limit) }, i)
        ask(0, 'spend', 1)
      }
      expect(sums.admitted).toBe(limit.burst + elapsed() / sums.interval)
    }),
    { numRuns: times(100, 10_000) },
  )
})

test('dropping what has expired changes no answer', () => {
  fc.assert(
    fc.property(limits, history, coins, (choice, events, stream) => {
      const kept = sharedBucket(choice)
      const dropped = sharedBucket(choice, flip(stream))
      for (const [i, event] of events.entries()) {
        expect(dropped.happen(event, i)).toEqual(kept.happen(event, i))
      }
    }),
    RUNS,
  )
})

/** Never answered as spent: it must be refused, and a refusal charges nothing. */
const TOO_MUCH = 1_000

/** A charge in the middle of a history, and after some more of it the charge is given back. */
interface Story {
  readonly before: readonly BucketEvent[]
  readonly spend: BucketEvent & { readonly kind: 'spend' }
  readonly meanwhile: readonly BucketEvent[]
  readonly after: readonly BucketEvent[]
}

/**
 * Two worlds: in one a charge is made and given back later; in the other it was never made, or given
 * back at once. Whatever the first admits, the second must admit, as long as both remember the same
 * newest time and largest limit: a bucket that is full when it is asked has nothing to remember them by.
 */
const compare = (choice: readonly GcraLimit[], story: Story, undone: 'never made' | 'at once') => {
  const here = sharedBucket(choice)
  const there = sharedBucket(choice)
  let number = 0
  const both = (events: readonly BucketEvent[], known?: GcraLimit) => {
    for (const event of events) {
      if (known && remembersMore(here, there, known)) return false
      if (known && event.kind === 'record' && !rememberSame(here, there)) return false
      number += 1
      const decision = here.happen(event, number)
      const replayed = there.happen(admittedOnly(event, decision), number)
      if (decision?.allowed && event.kind !== 'undated') expect(replayed?.allowed).toBe(true)
    }
    return true
  }
  both(story.before)
  const known = here.limitOf(story.spend.server)
  here.happen(story.spend, 0)
  const charge = here.admission(0)
  if (undone === 'at once') {
    there.happen(story.spend, 0)
    const sameCharge = there.admission(0)
    if (sameCharge) there.giveBack(story.spend.server, sameCharge)
  }
  if (charge === undefined) return
  if (!both(story.meanwhile, known)) return
  here.giveBack(story.spend.server, charge)
  both(story.after, known)
}

type SharedBucket = ReturnType<typeof sharedBucket>

/** A later time than both were asked at, or a larger limit than the one charged, in the first world alone. */
function remembersMore(here: SharedBucket, there: SharedBucket, charged: GcraLimit): boolean {
  const newest = (bucket: SharedBucket) => Math.max(bucket.now(), bucket.state()?.seen ?? 0)
  const both = [{ burst: charged.burst, interval: emissionInterval(charged) }, ...remembered(there)]
  return (
    newest(here) > newest(there) ||
    remembered(here).some(
      ({ burst, interval }) =>
        both.every((other) => other.burst < burst) ||
        both.every((other) => other.interval > interval),
    )
  )
}

/** What is recorded past the cap is dropped, and how much that is follows from the limits remembered. */
function rememberSame(here: SharedBucket, there: SharedBucket): boolean {
  const sizes = (bucket: SharedBucket) =>
    remembered(bucket).map(({ burst, interval }) => `${burst} ${interval}`)
  return sizes(here).join() === sizes(there).join()
}

const remembered = (bucket: SharedBucket): { burst: number; interval: number }[] => {
  const state = bucket.state()
  if (state === undefined) return []
  const time = Math.max(state.seen, bucket.now())
  const { largest = state } = state
  return [state, largest].filter(({ tat }) => tat > time)
}

/** What the first world refused is refused in the second too: otherwise they are not comparable. */
function admittedOnly(event: BucketEvent, decision: Decision | undefined): BucketEvent {
  const refused = decision?.allowed === false && (event.kind === 'spend' || event.kind === 'try')
  return refused ? { ...event, cost: TOO_MUCH } : event
}

/** Other charges are not given back by position: in the other world they would be others. */
const some = (from: typeof history) =>
  from.map((events) => events.filter(({ kind }) => kind !== 'give back').slice(0, 10))

const withUndated = (from: typeof history) =>
  fc
    .tuple(some(from), fc.array(undatedRefund, { maxLength: 1 }), fc.nat(10))
    .map(([events, refunds, at]) => events.toSpliced(at, 0, ...refunds))

const stories = (
  before: typeof history,
  meanwhile: typeof history,
  after: typeof history,
): fc.Arbitrary<Story> => {
  const spend = fc.record({
    kind: fc.constant('spend'),
    server: fc.nat(1),
    cost: fc.integer({ min: 1, max: 10 }),
  })
  return fc.record({ before, spend, meanwhile, after })
}

const forth = withUndated(forthHistory)

test('a give-back never admits more than if its charge had never been made', () => {
  fc.assert(
    fc.property(anyLimit, stories(forth, forth, forth), (limit, story) =>
      compare([limit], story, 'never made'),
    ),
    RUNS,
  )
})

test('nor more than if it had been given back at once, though limits and clocks change meanwhile', () => {
  fc.assert(
    // Behind the moment of the give-back the worlds differ: only one of them was written then.
    fc.property(limits, stories(history, some(history), forth), (choice, story) =>
      compare(choice, story, 'at once'),
    ),
    RUNS,
  )
})

/** A bucket as some history leaves it, and a limit of those that were at work. */
const anyBucket = fc.tuple(limits, history, fc.nat(2)).map(([choice, events, which]) => {
  const bucket = sharedBucket(choice)
  for (const [i, event] of events.entries()) bucket.happen(event, i)
  const limit = choice[which] ?? bucket.limitOf(0)
  return { state: bucket.state(), now: bucket.now(), limit, other: bucket.limitOf(0) }
})

const left = (limit: GcraLimit, state: GcraState | undefined, now: number) =>
  decideGcra(limit, state, { now: instant(now), cost: 0, mode: 'check' }).decision

test('given back at once, a bucket answers as if it had not been charged', () => {
  fc.assert(
    fc.property(anyBucket, anyCost, fc.nat(500), ({ state, now, limit }, cost, wait) => {
      const spent = decideGcra(limit, state, { now, cost, mode: 'spend' })
      if (!spent.decision.allowed || spent.next === undefined) return
      const { seen: at, since, interval } = spent.next
      const date = { at, since, interval }
      const back = decideGcra(limit, spent.next, { now, cost, mode: 'refund', date })
      expect(left(limit, back.next ?? spent.next, now)).toEqual(left(limit, state, now))
      const rebased = decideGcra(limit, state, { now, cost: TOO_MUCH, mode: 'spend' }).next ?? state
      const later = now + wait
      expect(left(limit, back.next ?? spent.next, later)).toEqual(left(limit, rebased, later))
    }),
    RUNS,
  )
})

test('a refusal charges nothing: what it leaves is no fuller and no emptier', () => {
  fc.assert(
    fc.property(anyBucket, anyCost, ({ state, now, limit }, cost) => {
      const { decision, next } = decideGcra(limit, state, { now, cost, mode: 'spend' })
      if (!decision.allowed && next) expect(left(limit, next, now)).toEqual(left(limit, state, now))
    }),
    RUNS,
  )
})

test('toggling a limit up and down frees nothing', () => {
  fc.assert(
    fc.property(anyBucket, ({ state, now, limit, other }) => {
      // A larger limit than all before may admit more: it counts into the bound from now on.
      const { largest } = state ?? {}
      if (largest && (other.burst > largest.burst || emissionInterval(other) < largest.interval)) {
        return
      }
      const felt = (by: GcraLimit, held: GcraState | undefined) =>
        decideGcra(by, held, { now, cost: TOO_MUCH, mode: 'spend' }).next ?? held
      const back = felt(limit, felt(other, state))
      expect(Number(left(limit, back, now).remaining)).toBeLessThanOrEqual(
        Number(left(limit, state, now).remaining),
      )
    }),
    RUNS,
  )
})

test('whoever waits as told is admitted, and a microsecond earlier is refused', () => {
  fc.assert(
    fc.property(anyBucket, anyCost, ({ state, now, limit }, cost) => {
      const first = decideGcra(limit, state, { now, cost, mode: 'spend' })
      const { allowed, retryIn } = first.decision
      if (allowed || retryIn === 'never') return
      const later = (wait: number) =>
        decideGcra(limit, first.next ?? state, { now: instant(now + wait), cost, mode: 'check' })
          .decision.allowed
      expect(later(retryIn)).toBe(true)
      expect(later(retryIn - 1)).toBe(false)
    }),
    RUNS,
  )
})

test('a token comes within the interval of the limit in force, unless the clock went back', () => {
  fc.assert(
    fc.property(anyBucket, ({ state, now, limit }) => {
      if (state !== undefined && state.seen > now) return
      const { decision } = decideGcra(limit, state, { now, cost: 1, mode: 'spend' })
      if (!decision.allowed) {
        expect(Number(decision.retryIn)).toBeLessThanOrEqual(emissionInterval(limit))
      }
    }),
    RUNS,
  )
})
