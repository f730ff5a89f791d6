import { expect, test } from 'vitest'
import { parseDuration } from '../core/duration.ts'
import { days, instant, seconds, span } from '../core/time.ts'
import {
  describeLength,
  describeWait,
  parseMoment,
  parseTimestamp,
  toDay,
  toMonth,
  toTimestamp,
} from './moments.ts'

const NOW = instant(1_767_225_600_000_000)

test.each([
  ['2026-01-01T00:00:00Z', 0],
  ['2026-01-01T01:00:00+01:00', 0],
  ['2026-01-01T00:00:00.5Z', 500_000],
  ['2026-01-01T00:00:00.000001Z', 1],
])('a timestamp %s is read to the microsecond', (text, beyond) => {
  expect(parseTimestamp(text)).toBe(NOW + beyond)
})

test.each([
  '',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T00:00:00.1234567Z',
  ' 2026-01-01T00:00:00Z',
])('%j is no timestamp: without a zone it would mean a moment for each of them', (text) => {
  expect(parseTimestamp(text)).toBeUndefined()
})

test('a moment is a duration from now, ahead or ago, or a date', () => {
  expect(parseMoment('90s', NOW, 'ahead')).toBe(NOW + seconds(90))
  expect(parseMoment('1d', NOW, 'ago')).toBe(NOW - days(1))
  expect(parseMoment('2026-01-01', NOW, 'ago')).toBe(NOW)
  expect(parseMoment('2026-01-01T00:00', NOW, 'ago')).toBeUndefined()
})

test('a timestamp, its day and its month are written in UTC', () => {
  expect(toTimestamp(instant(NOW + 1))).toBe('2026-01-01T00:00:00.000001Z')
  expect([toDay(NOW), toMonth(NOW)]).toEqual(['2026-01-01', '2026-01'])
})

const lengthOf = (text: string) => parseDuration(text) ?? span(-1)

test.each([
  ['2160h', '90d'],
  ['90m', '1h30m'],
  ['48h0m1.5s', '2d1.5s'],
  ['60s', '1m'],
  ['12s', '12s'],
  ['1.25ms', '1.25ms'],
  ['0', '0s'],
])('%s is told as %s, exactly', (text, told) => {
  expect(describeLength(lengthOf(text))).toBe(told)
  expect(parseDuration(told)).toBe(lengthOf(text))
})

test.each([
  ['2159h59m58.085s', '90d (2159h59m58.085s), at 2026-03-31 23:59:59 UTC'],
  ['2160h', '90d, at 2026-04-01 00:00:00 UTC'],
  ['25h1s', '1d2h (25h0m1s), at 2026-01-02 01:00:01 UTC'],
  ['59m59.2s', '1h (59m59.2s), at 2026-01-01 01:00:00 UTC'],
  ['1.5s', '1.5s, at 2026-01-01 00:00:02 UTC'],
])('a wait of %s is told as %s', (text, told) => {
  expect(describeWait(lengthOf(text), NOW)).toBe(told)
})
