import { expect, expectTypeOf, test } from 'vitest'
import {
  after,
  between,
  days,
  hours,
  type Instant,
  instant,
  millis,
  minutes,
  type Span,
  seconds,
  span,
  toMillis,
  toSeconds,
} from './time.ts'

test('spans are built from any unit, and come out in whole microseconds', () => {
  expect([millis(1), seconds(1), minutes(1), hours(1), days(1)]).toEqual([
    1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000,
  ])
  expect(millis(0.0001)).toBe(1)
})

test('a wait is rounded up on its way out: who waits that long has waited long enough', () => {
  expect(toMillis(span(1))).toBe(1)
  expect(toSeconds(span(1_000_001))).toBe(2)
})

test('points and lengths add up, and are not mistaken for each other', () => {
  expect(after(instant(5), span(7))).toBe(12)
  expect(between(instant(12), instant(5))).toBe(-7)
  expectTypeOf<Span>().not.toEqualTypeOf<Instant>()
  expectTypeOf<number>().not.toMatchTypeOf<Span>()
})

test('what is no whole number of microseconds is no time', () => {
  for (const odd of [0.5, Number.NaN, 2 ** 53]) expect(() => span(odd)).toThrow(RangeError)
})
