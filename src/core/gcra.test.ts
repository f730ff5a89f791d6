import { describe, expect, test } from 'vitest'
import { at, keptBucket as bucket, perSecond, T0 } from '../../test/support/kept-bucket.ts'
import { vectors } from '../../test/support/vectors.ts'
import { capacity, decideGcra, emissionInterval, type GcraLimit, type GcraState } from './gcra.ts'
import { days, hours, instant, millis, minutes, seconds, span } from './time.ts'

interface Trace {
  readonly id: string
  readonly limit: { burst: number; count: number; periodMicros: number; emissionMicros: number }
  readonly steps: readonly {
    op: 'spend' | 'check' | 'refund' | 'reset'
    now: number
    cost: number
    tatBefore: number | null
    tatAfter: number | null
    expect: { allowed: boolean; remaining: number; retryIn: number; resetIn: number } | null
  }[]
}

test('300 traces of spends, checks, refunds and resets give the recorded answers and TATs', () => {
  const { traces } = vectors<{ traces: readonly Trace[] }>('gcra/traces.json')
  for (const { id, limit: vector, steps } of traces) {
    const { burst, count, periodMicros, emissionMicros } = vector
    const limit: GcraLimit = { kind: 'gcra', burst, count, period: span(periodMicros) }
    expect(emissionInterval(limit)).toBe(emissionMicros)
    let state: GcraState | undefined
    for (const [i, step] of steps.entries()) {
      const where = `${id} step ${i}`
      if (step.op === 'reset') {
        state = undefined
        continue
      }
      const now = instant(step.now)
      const outcome = decideGcra(limit, state, { now, cost: step.cost, mode: step.op })
      expect(outcome.decision, where).toMatchObject(step.expect ?? {})
      state = outcome.next ?? state
      // A TAT at or before now is a full bucket, as is none.
      const tat = (n: number | null | undefined) => Math.max(n ?? 0, step.now)
      expect(tat(state?.tat), where).toBe(tat(step.tatAfter))
    }
  }
})

interface WorkedExample {
  readonly steps: readonly {
    nowNs: string
    cost: number
    boulder: { allowed: boolean; remaining: number; retryInNs: string; resetInNs: string }
    seedClaimMatchesBoulder: boolean
  }[]
}

describe("the seed's worked example: 20 a second, burst 20", () => {
  const { steps } = vectors<WorkedExample>('boulder/seed_worked_example.json')

  test('nine steps, replayed by the rule that admits exactly the burst', () => {
    const subscriber = bucket(perSecond(20))
    for (const { nowNs, cost, boulder } of steps) {
      const decision = subscriber.spend(instant(Math.floor(Number(BigInt(nowNs) / 1_000n))), cost)
      expect(decision).toMatchObject({ allowed: boulder.allowed, remaining: boulder.remaining })
      expect(Math.abs(Number(decision.retryIn) * 1_000 - Number(boulder.retryInNs))).toBeLessThan(
        1_001,
      )
      expect(Math.abs(Number(decision.resetIn) * 1_000 - Number(boulder.resetInNs))).toBeLessThan(
        1_001,
      )
    }
  })

  test('erratum: steps 6 to 8 of the text admit 21 and contradict its step 3; the 21st is refused', () => {
    const subscriber = bucket(perSecond(20))
    const admitted = Array.from({ length: 21 }, () => subscriber.spend(at(millis(49))).allowed)
    expect(admitted.filter(Boolean)).toHaveLength(20)
    expect(steps.some((step) => !step.seedClaimMatchesBoulder)).toBe(true)
  })

  test('step 3: after one request, 19 more within 50 ms, the 20th refused, then one every 50 ms', () => {
    const subscriber = bucket(perSecond(20))
    subscriber.spend(T0)
    const more = Array.from({ length: 20 }, () => subscriber.spend(at(millis(49))).allowed)
    expect(more).toEqual([...Array(19).fill(true), false])
    expect(subscriber.spend(at(millis(50))).allowed).toBe(true)
    expect(subscriber.spend(at(millis(99))).allowed).toBe(false)
    expect(subscriber.spend(at(millis(100))).allowed).toBe(true)
  })

  test('step 9: a subscriber back from two weeks away finds a full bucket, not a saved-up one', () => {
    const subscriber = bucket(perSecond(20))
    for (let i = 0; i < 20; i++) subscriber.spend(T0)
    const back = at(days(14))
    const admitted = Array.from({ length: 25 }, () => subscriber.spend(back).allowed)
    expect(admitted.filter(Boolean)).toHaveLength(20)
  })
})

test('being exactly as patient as told to be is enough, and a microsecond less is not', () => {
  const subscriber = bucket({ kind: 'gcra', burst: 3, count: 3, period: seconds(2) })
  for (let i = 0; i < 3; i++) subscriber.spend(T0)
  const { retryIn } = subscriber.spend(T0)
  expect(retryIn).toBe(666_667)
  expect(subscriber.spend(at(666_666)).allowed).toBe(false)
  expect(subscriber.spend(at(666_667)).allowed).toBe(true)
})

test('the emission interval is rounded up: 3 in 2 s never come a microsecond early', () => {
  const limit: GcraLimit = { kind: 'gcra', burst: 3, count: 3, period: seconds(2) }
  expect(emissionInterval(limit)).toBe(666_667)
  expect(capacity(limit)).toBe(2_000_001)
})

test('a cost above the burst never fits, and says so', () => {
  const { spend } = bucket(perSecond(20))
  expect(spend(T0, 21)).toMatchObject({
    allowed: false,
    reason: 'COST_ABOVE_BURST',
    retryIn: 'never',
  })
})

test('a cost of nothing is always allowed and writes nothing', () => {
  const subscriber = bucket(perSecond(1))
  expect(subscriber.spend(T0, 0)).toMatchObject({ allowed: true, remaining: 1 })
  expect(subscriber.state()).toBeUndefined()
  subscriber.spend(T0)
  expect(subscriber.spend(T0, 0)).toMatchObject({ allowed: true, remaining: 0 })
})

test('a check answers as a spend would, and writes nothing', () => {
  const subscriber = bucket(perSecond(2))
  expect(subscriber.ask('check', T0)).toMatchObject({ allowed: true, remaining: 1 })
  expect(subscriber.state()).toBeUndefined()
})

test('what is recorded past the cap empties the bucket, and leaves no debt', () => {
  const subscriber = bucket(perSecond(10))
  expect(subscriber.ask('record', T0, 25)).toMatchObject({ allowed: true, remaining: 0 })
  expect(subscriber.spend(at(millis(99))).allowed).toBe(false)
  expect(subscriber.spend(at(millis(100))).allowed).toBe(true)
})

test('a cost that is no whole number of tokens is a bug, not a question', () => {
  const { spend } = bucket(perSecond(1))
  expect(() => spend(T0, 0.5)).toThrow(/whole number/)
  expect(() => spend(T0, -1)).toThrow(/whole number/)
})

describe('a changed limit', () => {
  const daily: GcraLimit = { kind: 'gcra', burst: 10, count: 10, period: days(1) }
  const hourly: GcraLimit = { kind: 'gcra', burst: 100, count: 100, period: hours(1) }

  const emptied = (limit: GcraLimit) => {
    const subscriber = bucket(limit)
    subscriber.spend(T0, limit.burst)
    return subscriber
  }

  test('a full bucket stays full', () => {
    const subscriber = bucket(daily)
    subscriber.change(hourly)
    expect(subscriber.ask('check', T0, 100).allowed).toBe(true)
  })

  test('an empty bucket stays empty, and the first token comes within the new interval', () => {
    const subscriber = emptied(daily)
    subscriber.change(hourly)
    const refused = subscriber.spend(T0)
    expect(refused).toMatchObject({
      allowed: false,
      remaining: 0,
      retryIn: emissionInterval(hourly),
    })
    expect(subscriber.spend(at(emissionInterval(hourly))).allowed).toBe(true)
  })

  test('a half-full bucket stays half full', () => {
    const subscriber = bucket(daily)
    subscriber.spend(T0, 5)
    subscriber.change(hourly)
    expect(subscriber.ask('check', T0, 0)).toMatchObject({ remaining: 50 })
  })

  test('a raise felt by a refused spend sets the new pace, although the refusal charged nothing', () => {
    const subscriber = emptied(daily)
    subscriber.change(hourly)
    subscriber.spend(T0)
    expect(subscriber.state()).toMatchObject({ burst: 100, interval: emissionInterval(hourly) })
    expect(subscriber.ask('check', at(minutes(30)), 0)).toMatchObject({ remaining: 50 })
  })

  test('toggling a limit up and down frees nothing', () => {
    const subscriber = emptied(daily)
    for (let i = 0; i < 100; i++) {
      subscriber.change(i % 2 === 0 ? hourly : daily)
      expect(subscriber.spend(T0).allowed).toBe(false)
    }
  })

  test('capacities whose product passes 2^53 are rescaled exactly', () => {
    const huge: GcraLimit = { kind: 'gcra', burst: 2 ** 20, count: 1, period: span(2 ** 32) }
    const subscriber = emptied({ ...huge, period: span(2 ** 31) })
    subscriber.change(huge)
    expect(subscriber.ask('check', T0, 0)).toMatchObject({ remaining: 0, resetIn: 2 ** 52 })
  })
})

test('expiry is the moment at which the bucket is full', () => {
  const { next, expiresAt } = decideGcra(perSecond(10), undefined, {
    now: T0,
    cost: 3,
    mode: 'spend',
  })
  expect(expiresAt).toBe(next?.tat)
  expect(expiresAt).toBe(at(millis(300)))
})
