/** The judgement over a clock, apart from who asks for it. */
import { expect, test } from 'vitest'
import {
  acceptedClock,
  type ClockMoment,
  confirmedBy,
  decodeClock,
  describeClock,
  encodeClock,
  judgeClock,
  lookAtClock,
  NOTHING_YET,
  retryAfterClock,
} from './machine-clock.ts'
import { hours, instant, seconds, span } from './time.ts'

const START = instant(1_700_000_000_000_000)

/** So many seconds after the start, by a clock that was set ahead by some. */
const after = (passed: number, ahead = 0, boot = 'a'): ClockMoment => ({
  now: instant(START + seconds(passed + ahead)),
  reading: { boot, uptime: seconds(100 + passed) },
  maxOff: seconds(5),
})

const RECORD = acceptedClock(after(0))

test('what passes awake or asleep changes nothing, and more than the allowance is a leap either way', () => {
  expect(judgeClock(RECORD, after(1_000_000))).toMatchObject({ trusted: true, offBy: 0 })
  expect(judgeClock(RECORD, after(10, 5))).toMatchObject({ trusted: true, offBy: seconds(5) })
  for (const off of [5.1, -5.1, 2_592_000, -2_592_000]) {
    expect(judgeClock(RECORD, after(10, off))).toMatchObject({
      reason: 'leapt',
      offBy: seconds(off),
    })
  }
})

test('behind the newest record it has to catch up, and the wait is exact', () => {
  const found = judgeClock(RECORD, after(1, -3))
  expect(found).toEqual({ trusted: false, reason: 'behind', offBy: seconds(-2) })
  if (!found.trusted) expect(retryAfterClock(found)).toBe(seconds(2))
})

test('a new boot is taken in once it is confirmed, and then it is known beside the others', () => {
  const rebooted = after(50, 0, 'b')
  expect(judgeClock(RECORD, rebooted)).toEqual({ trusted: false, reason: 'unconfirmed' })
  const silent = lookAtClock(RECORD, rebooted, () => undefined)
  expect(silent).toEqual({ verdict: { trusted: false, reason: 'unconfirmed' } })
  const { verdict, next } = lookAtClock(RECORD, rebooted, () => 'sources')
  expect(verdict).toMatchObject({ trusted: true, basis: 'sources' })
  expect(next?.boots.map(({ boot }) => boot)).toEqual(['a', 'b'])
  expect(lookAtClock(undefined, rebooted, () => undefined).next).toEqual(NOTHING_YET)
  expect(lookAtClock(NOTHING_YET, rebooted, () => 'nothing').verdict).toMatchObject({
    basis: 'first',
  })
})

test('more than half of all sources must agree, and silence agrees with nothing', () => {
  const offsets = [seconds(100), seconds(104), seconds(200)]
  expect(confirmedBy(offsets, 3, seconds(5))(seconds(102))).toBe('sources')
  expect(confirmedBy(offsets, 4, seconds(5))(seconds(102))).toBeUndefined()
  expect(confirmedBy([], 1, seconds(5))(seconds(102))).toBeUndefined()
})

test('the record follows small corrections no faster than 500 ppm, and is written once a minute', () => {
  const write = (moment: ClockMoment) => lookAtClock(RECORD, moment, () => 'nothing').next
  expect(write(after(59, 4))).toBeUndefined()
  const [followed] = write(after(3_600, 4))?.boots ?? []
  expect(followed?.offset).toBe(START - seconds(100) + hours(1) / 2_000)
})

test('a record is read as it was written', () => {
  const record = {
    ...RECORD,
    boots: [...RECORD.boots, { boot: 'b', offset: span(-3), uptime: span(7) }],
  }
  expect(decodeClock(encodeClock(record))).toEqual(record)
  expect(decodeClock(encodeClock(NOTHING_YET))).toEqual(NOTHING_YET)
})

test('words for all that can be wrong', () => {
  const off = (reason: 'leapt' | 'behind', length: number) =>
    describeClock({ trusted: false, reason, offBy: seconds(length) })
  expect(off('leapt', -61.2)).toBe('the clock was set back by 62 s since it was recorded')
  expect(off('behind', -30)).toBe('the clock is 30 s behind the newest record')
  expect(describeClock({ trusted: false, reason: 'unconfirmed' })).toContain('time sources')
  expect(describeClock(undefined)).toContain('yet')
})
