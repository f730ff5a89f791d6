import { expect, test } from 'vitest'
import { hours, instant } from './time.ts'
import { windowAt } from './window.ts'

const hourly = { length: hours(1), origin: instant(0) }

test('windows are half-open: the boundary belongs to the new one', () => {
  expect(windowAt(hourly, instant(hours(3) - 1)).number).toBe(2)
  expect(windowAt(hourly, instant(hours(3)))).toEqual({
    number: 3,
    startsAt: hours(3),
    endsAt: hours(4),
  })
})

test('an origin of its own moves the boundaries', () => {
  expect(windowAt({ length: hours(1), origin: instant(90) }, instant(89)).number).toBe(-1)
})

test('a clock that steps back stays in the newest window seen', () => {
  expect(windowAt(hourly, instant(hours(2)), 5).number).toBe(5)
  expect(windowAt(hourly, instant(hours(7)), 5).number).toBe(7)
})
