import { describe, expect, test } from 'vitest'
import type { Charge } from './decide.ts'
import { dateOf, decideAll, fillBucket } from './decide.ts'
import type { GcraLimit } from './gcra.ts'
import { encodeStaged } from './staged.ts'
import type { Value, View } from './store.ts'
import { days, instant, seconds, span } from './time.ts'

const T0 = instant(1_700_000_000_000_000)
const perSecond = (n: number): GcraLimit => ({
  kind: 'gcra',
  burst: n,
  count: n,
  period: seconds(1),
})

/** A view over a plain map, and a way to apply what was planned. */
const world = () => {
  const values = new Map<string, Value>()
  const view = (now = T0): View => ({ now, read: (...keys) => keys.map((key) => values.get(key)) })
  const run = (...charges: Charge[]) => {
    const verdict = decideAll(charges, view())
    for (const write of verdict.kept) {
      if (write?.value !== undefined) values.set(write.key, write.value)
    }
    return verdict
  }
  return { values, run, view }
}

const charge = (
  key: string,
  limit: GcraLimit,
  cost = 1,
  mode: Charge['mode'] = 'spend',
): Charge => ({
  key,
  limit,
  cost,
  mode,
})

describe('a batch', () => {
  test('is charged whole when everything fits', () => {
    const { values, run } = world()
    const verdict = run(charge('a', perSecond(3)), charge('b', perSecond(5), 2))
    expect(verdict.decision).toMatchObject({ allowed: true })
    expect(verdict.decisions.map((decision) => decision.remaining)).toEqual([2, 3])
    expect([...values.keys()]).toEqual(['a', 'b'])
  })

  test('is charged not at all when one of it does not fit, and all violated limits are named', () => {
    const { values, run } = world()
    run(charge('a', perSecond(1)), charge('c', perSecond(1)))
    const before = new Map(values)
    const verdict = run(
      charge('a', perSecond(1)),
      charge('b', perSecond(5)),
      charge('c', perSecond(1)),
    )
    expect(verdict.decision).toMatchObject({ allowed: false, reason: 'RATE_LIMIT' })
    expect(verdict.violated).toEqual([0, 2])
    expect(values).toEqual(before)
  })

  test('spans kinds of limit: a refused budget keeps the bucket full', () => {
    const { values, run } = world()
    const poor: Charge = {
      key: 'm',
      limit: { kind: 'budget', amount: 5n },
      cost: 6n,
      mode: 'spend',
    }
    const staged: Charge = {
      key: 's',
      limit: {
        kind: 'staged',
        stages: [{ delay: seconds(0), resetTimer: true, batch: 1, repetitions: 1 }],
      },
      cost: 1,
      mode: 'spend',
    }
    expect(run(charge('a', perSecond(3)), poor, staged).violated).toEqual([1])
    expect(values.size).toBe(0)
    expect(run(charge('a', perSecond(3)), { ...poor, cost: 5n }, staged).decision.allowed).toBe(
      true,
    )
    expect(values.get('s')).toBe(encodeStaged({ counter: 1, timer: T0, disabled: false }))
    expect(values.get('m')).toBe('5')
  })

  test('may charge a bucket once; twice is a mistake that says what to do', () => {
    const { run } = world()
    expect(() => run(charge('a', perSecond(3)), charge('a', perSecond(3)))).toThrow(
      'bucket a: may be charged once in a batch; add the costs up instead',
    )
  })

  test('without a charge is a bug', () => {
    expect(() => decideAll([], { now: T0, read: () => [] })).toThrow(/at least one/)
  })
})

describe('a try', () => {
  test('is charged when it fits and the batch is allowed', () => {
    const { values, run } = world()
    run(charge('a', perSecond(3)), charge('b', perSecond(3), 1, 'try'))
    expect([...values.keys()]).toEqual(['a', 'b'])
  })

  test('never refuses the batch', () => {
    const { values, run } = world()
    run(charge('b', perSecond(1)))
    const verdict = run(charge('a', perSecond(3)), charge('b', perSecond(1), 1, 'try'))
    expect(verdict.decision).toMatchObject({ allowed: true, remaining: 2 })
    expect(verdict.decisions[1]).toMatchObject({ allowed: false, reason: 'RATE_LIMIT' })
    expect(verdict.violated).toEqual([])
    expect(values.has('a')).toBe(true)
  })

  test('is not charged when the batch is refused', () => {
    const { values, run } = world()
    run(charge('a', perSecond(1)))
    run(charge('a', perSecond(1)), charge('b', perSecond(3), 1, 'try'))
    expect(values.has('b')).toBe(false)
  })

  test('alone, is allowed whatever comes of it', () => {
    const { run } = world()
    run(charge('b', perSecond(1)))
    expect(run(charge('b', perSecond(1), 1, 'try')).decision).toMatchObject({
      allowed: true,
      remaining: 0,
    })
  })
})

test('a check has a say and charges nothing', () => {
  const { values, run } = world()
  run(charge('a', perSecond(1)))
  const verdict = run(charge('a', perSecond(1), 1, 'check'), charge('b', perSecond(3)))
  expect(verdict.decision.allowed).toBe(false)
  expect([...values.keys()]).toEqual(['a'])
})

test('a record does not refuse, and joins a batch that is allowed', () => {
  const { values, run } = world()
  run(charge('a', perSecond(1)))
  expect(
    run(charge('a', perSecond(1), 1, 'record'), charge('b', perSecond(1))).decision.allowed,
  ).toBe(true)
  expect(values.has('b')).toBe(true)
})

test('a dated refund passes its date on', () => {
  const { run } = world()
  const [spent] = run(charge('a', perSecond(10), 5)).kept
  const date = spent && dateOf(spent)
  expect(date).toEqual({ at: T0, since: T0, interval: 100_000 })
  const back = charge('a', perSecond(10), 5, 'refund')
  const other: Charge = { ...back, date: { at: T0, since: instant(7), interval: span(100_000) } }
  expect(run(other).decisions[0]).toMatchObject({ allowed: false, reason: 'NOTHING_TO_RETURN' })
  const own: Charge = date === undefined ? back : { ...back, date }
  expect(run(own).decisions[0]).toMatchObject({ allowed: true, remaining: 10 })
})

test('a bucket that is filled keeps its name for the next filling; one that is not there needs none', () => {
  const { values, run, view } = world()
  expect(fillBucket('a', view())).toBeUndefined()
  run(charge('a', perSecond(10), 5))
  const filled = fillBucket('a', view())
  expect(filled).toMatchObject({ key: 'a', expiresAt: T0 + 2 })
  if (filled?.value !== undefined) values.set('a', filled.value)
  expect(run(charge('a', perSecond(10), 10)).decision.allowed).toBe(true)
  expect(dateOf({ key: 'a' })).toBeUndefined()
})

test('a refused bucket under a changed limit is restated, though nothing is charged', () => {
  const { values, run } = world()
  run(charge('a', perSecond(1)))
  const before = values.get('a')
  const slower: GcraLimit = { kind: 'gcra', burst: 1, count: 1, period: days(1) }
  const verdict = run(charge('a', slower), charge('b', perSecond(3)))
  expect(verdict.decision.allowed).toBe(false)
  expect(values.get('a')).not.toBe(before)
  expect(values.has('b')).toBe(false)
})
