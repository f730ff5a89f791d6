/** Delays that come from each other, stages without end, and attempts that other signers answered. */
import { describe, expect, test } from 'vitest'
import type { Value } from '../../core/store.ts'
import { days, hours, type Instant, instant, type Span } from '../../core/time.ts'
import { parseDelayExpression } from './delay-expression.ts'
import type { Rule } from './rule.ts'
import { type LadderStage, ladderRule, MAX_SKIPPED } from './rule.ts'

const stage = (delay: string, cumulative: boolean, batch = 1, repetitions = 1): LadderStage => ({
  delay: parseDelayExpression(delay),
  cumulative,
  batch,
  repetitions,
})
const later = (point: Instant, length: Span): Instant => instant(point + length)
const T0 = instant(1_700_000_000_000_000)

/** Makes one attempt after another, each as soon as it is due; returns the waits between them. */
const waits = (rule: Rule, count: number): readonly Span[] => {
  const found: Span[] = []
  let state: Value | undefined
  let now: Instant = T0
  for (let i = 0; i < count; i++) {
    const tried = rule.attempt(state, now, i)
    const wait = tried.allowed || tried.retryIn === 'never' ? days(0) : tried.retryIn
    now = later(now, wait)
    found.push(wait)
    const made = rule.attempt(state, now, i)
    expect(made.allowed).toBe(true)
    if (made.allowed) state = made.next
  }
  return found
}

const attempted = (
  rule: Rule,
  state: Value | undefined,
  now: Instant,
  nonce: number,
): Value | undefined => {
  const made = rule.attempt(state, now, nonce)
  expect(made.allowed).toBe(true)
  return made.allowed ? made.next : undefined
}

describe('the extension of "ODIS RateLimit Structures"', () => {
  const example = ladderRule([
    stage('0', false),
    stage('1 day', true, 1, 2),
    stage('2 days', true),
    stage('2 days', false),
    stage('4 days', false, 2),
    stage('d[i-1] + i days', true, 1, Number.POSITIVE_INFINITY),
  ])

  test('the example gives 0, 1, 1, 2, 2, 4, 11, 19, 28 … days; the sixth batch holds two attempts', () => {
    expect(waits(example, 10)).toEqual([0, 1, 1, 2, 2, 4, 0, 11, 19, 28].map(days))
  })

  test('after 100 days of waiting before attempt 2 there are three attempts, and the fifth 2 days later', () => {
    let state = attempted(example, undefined, T0, 0)
    const late = later(T0, days(100))
    for (const nonce of [1, 2, 3]) state = attempted(example, state, late, nonce)
    expect(example.attempt(state, late, 4)).toEqual({ allowed: false, retryIn: days(2) })
  })

  test('the backoff accumulates: after 30 days of waiting before attempt 8 the next one is due at once', () => {
    let state: Value | undefined
    let now: Instant = T0
    for (const [nonce, wait] of [0, 1, 1, 2, 2, 4, 0, 11].entries()) {
      now = later(now, days(wait))
      state = attempted(example, state, now, nonce)
    }
    const late = later(now, days(19 + 28))
    state = attempted(example, state, late, 8)
    expect(example.attempt(state, late, 9).allowed).toBe(true)
  })
})

describe('a nonce that runs ahead', () => {
  const rule = ladderRule([stage('0', false, 2), stage('1 day', false, 2, 3)])

  test('is answered once: the counter becomes nonce + 1', () => {
    const state = attempted(rule, undefined, T0, 1)
    expect(rule.counter(state)).toBe(2)
  })

  test('saves no wait: each batch that was skipped still takes its delay', () => {
    const state = attempted(rule, undefined, T0, 1)
    expect(rule.attempt(state, T0, 3)).toEqual({ allowed: false, retryIn: days(1) })
    expect(rule.attempt(state, T0, 4)).toEqual({ allowed: false, retryIn: days(2) })
    expect(rule.attempt(state, later(T0, hours(47)), 5)).toMatchObject({ allowed: false })
    expect(rule.attempt(state, later(T0, days(2)), 5).allowed).toBe(true)
  })

  test('on a domain never seen sets the timer: no attempts have accumulated since 1970', () => {
    const state = attempted(rule, undefined, T0, 5)
    expect(rule.attempt(state, T0, 6)).toEqual({ allowed: false, retryIn: days(1) })
  })

  test('is refused for good beyond the last stage, and beyond what may be skipped', () => {
    expect(rule.attempt(undefined, T0, 8)).toEqual({ allowed: false, retryIn: 'never' })
    const endless = ladderRule([stage('0', false, 1, Number.POSITIVE_INFINITY)])
    expect(endless.attempt(undefined, T0, MAX_SKIPPED).allowed).toBe(true)
    expect(endless.attempt(undefined, T0, MAX_SKIPPED + 1)).toMatchObject({ retryIn: 'never' })
  })
})

test('a delay that cannot be exact ends the ladder', () => {
  const rule = ladderRule([stage('0', false), stage('d[i-1] - 1 day', false, 1, 5)])
  const state = attempted(rule, undefined, T0, 0)
  expect(rule.attempt(state, later(T0, days(9)), 1)).toEqual({ allowed: false, retryIn: 'never' })
})
