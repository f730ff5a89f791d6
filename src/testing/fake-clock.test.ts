import { expect, test } from 'vitest'
import { days, instant, span } from '../core/time.ts'
import { fakeClock } from './fake-clock.ts'

const NEW_YEAR = Date.UTC(2024, 0, 1) * 1_000

test('a fake clock moves only when a test moves it', () => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  expect([clock(), clock()]).toEqual([NEW_YEAR, NEW_YEAR])
  clock.advance(days(4))
  expect(clock()).toBe(NEW_YEAR + 4 * 86_400_000_000)
  clock.advance(span(1))
  expect(clock()).toBe(NEW_YEAR + 4 * 86_400_000_000 + 1)
})

test('a fake clock can be set, also back', () => {
  const clock = fakeClock(instant(1_000))
  clock.set(instant(5))
  expect(clock()).toBe(5)
  clock.set('1970-01-01T00:00:01Z')
  expect(clock()).toBe(1_000_000)
})

test('a text that is no date is refused by name', () => {
  expect(() => fakeClock('next tuesday')).toThrow(
    'a fake clock: is set to an instant or to a date and time as in ISO 8601, found "next tuesday"',
  )
})
