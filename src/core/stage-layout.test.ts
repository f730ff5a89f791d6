import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import { type CumulativeStage, decideStaged, layOut, type StagedState } from './staged.ts'
import { days, type Instant, instant, type Span, span } from './time.ts'

/** "ODIS RateLimit Structures": the sequence that all its examples describe, in days. */
const d = [0, 1, 1, 2, 2, 4, 0]
const c = [0, 1, 1, 1, 0, 0, 0]

const stage = (delay: number, cumulative: number, batch?: number, repetitions?: number) => ({
  delay: days(delay),
  cumulative: cumulative === 1,
  ...(batch === undefined ? {} : { batch }),
  ...(repetitions === undefined ? {} : { repetitions }),
})

const array: CumulativeStage[] = d.map((delay, i) => stage(delay, c[i] ?? 0))
const batches: CumulativeStage[] = [
  ...[0, 1, 1, 2, 2].map((delay, i) => stage(delay, c[i] ?? 0, 1)),
  stage(4, 0, 2),
]
const repetitions: CumulativeStage[] = [
  stage(0, 0, 1, 1),
  stage(1, 1, 1, 2),
  stage(2, 1, 1, 1),
  stage(2, 0, 1, 1),
  stage(4, 0, 2, 1),
]

const START = instant(1_631_650_286_000_000)
const day = (n: number): Instant => instant(START + days(n))

/** Makes attempts as a user would, and says which succeed. */
const user = (stages: readonly CumulativeStage[]) => {
  const limit = { kind: 'staged', stages: layOut(stages) } as const
  let state: StagedState | undefined
  return (now: Instant): boolean => {
    const { next } = decideStaged(limit, state, { now, cost: 1, mode: 'spend' })
    state = next ?? state
    return next !== undefined
  }
}

describe('d = [0, 1, 1, 2, 2, 4, 0] without accumulating', () => {
  const strict = d.map((delay) => stage(delay, 0))

  test('each attempt waits its own delay after the one before, the last two come back to back', () => {
    const attempt = user(strict)
    const due = [0, 1, 2, 4, 6, 10, 10]
    for (const n of due) expect(attempt(day(n)), `day ${n}`).toBe(true)
    expect(attempt(day(100))).toBe(false)
  })

  test('whoever waited longer than necessary before still waits the whole delay', () => {
    const attempt = user(strict)
    expect([attempt(day(0)), attempt(day(50)), attempt(day(50))]).toEqual([true, true, false])
    expect(attempt(day(51))).toBe(true)
  })
})

describe('c = [0, 1, 1, 1, 0, 0, 0]', () => {
  test('after four days one can query up to three times', () => {
    const attempt = user(array)
    attempt(day(0))
    expect([1, 2, 3, 4].map(() => attempt(day(4)))).toEqual([true, true, true, false])
  })

  test('however long one waits before attempt 2, attempt 5 comes two days after attempt 4', () => {
    for (const wait of [4, 5, 10, 100]) {
      const attempt = user(array)
      attempt(day(0))
      expect([2, 3, 4].map(() => attempt(day(wait)))).toEqual([true, true, true])
      expect(attempt(instant(day(wait + 2) - 1))).toBe(false)
      expect(attempt(day(wait + 2))).toBe(true)
    }
  })

  test('then four days to attempts 6 and 7, which come back to back, and none after', () => {
    const attempt = user(array)
    for (const n of [0, 4, 4, 4, 6]) attempt(day(n))
    expect(attempt(instant(day(10) - 1))).toBe(false)
    expect([attempt(day(10)), attempt(day(10)), attempt(day(400))]).toEqual([true, true, false])
  })
})

const history = fc.array(fc.integer({ min: 0, max: 6 * 24 }), { minLength: 1, maxLength: 30 })

test('the array, batch and repetition forms agree on every history', () => {
  fc.assert(
    fc.property(history, (gaps) => {
      const forms = [array, batches, repetitions].map((form) => {
        const attempt = user(form)
        let now: number = START
        return gaps.map((gap) => {
          now += gap * days(1 / 24)
          return attempt(instant(now))
        })
      })
      expect(forms[1]).toEqual(forms[0])
      expect(forms[2]).toEqual(forms[0])
    }),
    { numRuns: times(300, 20_000) },
  )
})

/** The rule word for word: base = accumulated timer if cumulative, else the previous attempt. */
const literal = (stages: readonly CumulativeStage[]) => {
  const ladder = stages.flatMap(({ delay, cumulative, batch = 1, repetitions = 1 }) =>
    Array.from({ length: batch * repetitions }, (_, i) => ({
      delay: i % batch === 0 ? delay : span(0),
      cumulative,
    })),
  )
  let made = 0
  let timer = 0
  let previous = 0
  return (now: Instant): boolean => {
    const step = ladder[made]
    if (step === undefined) return false
    const base = step.cumulative ? timer : previous
    if (now < base + step.delay) return false
    timer = made > 0 && step.cumulative ? base + step.delay : now
    previous = now
    made++
    return true
  }
}

const anyStage = fc.record({
  delay: fc.integer({ min: 0, max: 40 }).map((n): Span => span(n)),
  cumulative: fc.boolean(),
  batch: fc.integer({ min: 1, max: 4 }),
  repetitions: fc.integer({ min: 1, max: 4 }),
})

test('laid out as deployed stages, any ladder behaves as the rule says, word for word', () => {
  fc.assert(
    fc.property(
      fc.array(anyStage, { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 60 }),
      (stages, gaps) => {
        const ladder = stages.map((one, i) => (i === 0 ? { ...one, delay: span(0) } : one))
        const [mine, rule] = [user(ladder), literal(ladder)]
        let now = 1_000
        for (const gap of gaps) {
          now += gap
          expect(mine(instant(now))).toBe(rule(instant(now)))
        }
      },
    ),
    { numRuns: times(500, 50_000) },
  )
})

test('a first delay other than 0 is refused: nothing precedes the first attempt', () => {
  expect(() => layOut([stage(1, 0)])).toThrow('stage 1, delay: must be 0')
})

test('batches and repetitions that mean nothing are refused', () => {
  expect(() => layOut([stage(0, 0, 0)])).toThrow(
    'stage 1, batch: must be a whole number from 1, found 0',
  )
  expect(() => layOut([stage(0, 0), stage(1, 1, 1, 1.5)])).toThrow('stage 2, repetitions')
  expect(() => layOut([stage(0, 0), stage(-1, 1)])).toThrow('stage 2, delay: must not be negative')
})
