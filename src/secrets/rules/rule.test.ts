import { expect, test } from 'vitest'
import type { Value } from '../../core/store.ts'
import { instant, seconds } from '../../core/time.ts'
import { cappedRule, type Rule, refreshedRule, stagedRule } from './rule.ts'

const T0 = instant(1_700_000_000_000_000)

/** The state after so many allowed attempts at one moment. */
const after = (rule: Rule, count: number, now = T0): Value | undefined => {
  let state: Value | undefined
  for (let i = 0; i < count; i++) {
    const found = rule.attempt(state, now)
    if (!found.allowed) throw new Error(`attempt ${i + 1} was refused`)
    state = found.next
  }
  return state
}

test('a cap allows so many attempts, ever, and a clock that steps back refuses none of them', () => {
  const rule = cappedRule(2)
  const one = after(rule, 1)
  expect(rule.attempt(one, instant(0)).allowed).toBe(true)
  expect(rule.status(one, T0)).toEqual({ counter: 1, remaining: 1, now: 1_700_000_000 })
  expect(rule.attempt(after(rule, 2), T0)).toEqual({ allowed: false, retryIn: 'never' })
  expect(cappedRule(0).attempt(undefined, T0)).toEqual({ allowed: false, retryIn: 'never' })
})

test('a refreshed quota comes back one attempt at a time, and has no counter', () => {
  const rule = refreshedRule(2, seconds(60))
  const used = after(rule, 2)
  expect(rule.attempt(used, T0)).toEqual({ allowed: false, retryIn: seconds(60) })
  expect(rule.counter(used)).toBe(0)
  const later = instant(T0 + seconds(60))
  expect(rule.status(used, later)).toEqual({ remaining: 1, now: 1_700_000_060 })
})

test('stages count in whole seconds: a fraction neither shortens nor lengthens a wait', () => {
  const stage = { delay: seconds(0), resetTimer: true, batch: 1, repetitions: 1 }
  const rule = stagedRule([stage, { ...stage, delay: seconds(10) }])
  const one = after(rule, 1, instant(T0 + 900_000))
  expect(rule.status(one, T0)).toEqual({ counter: 1, timer: 1_700_000_000, now: 1_700_000_000 })
  expect(rule.attempt(one, instant(T0 + 9_999_999))).toMatchObject({ retryIn: seconds(1) })
  expect(rule.attempt(one, instant(T0 + seconds(10))).allowed).toBe(true)
})
