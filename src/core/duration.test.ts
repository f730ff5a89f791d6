import { describe, expect, test } from 'vitest'
import { vectors } from '../../test/support/vectors.ts'
import { formatDuration, formatNanos, parseDuration, parseNanos } from './duration.ts'
import { days, minutes, span } from './time.ts'

interface Durations {
  readonly parse: readonly { in: string; ns: string | null }[]
  readonly format: readonly { ns: string; out: string }[]
}

const { parse, format } = vectors<Durations>('boulder/durations.json')

/** Go has no days or weeks; Headgate does. */
const BEYOND_GO = new Map([
  ['1d', 86_400_000_000_000n],
  ['1w', 604_800_000_000_000n],
])

describe("Go's grammar", () => {
  for (const { in: text, ns } of parse) {
    test(`${JSON.stringify(text)} is ${ns ?? 'no duration'}`, () => {
      const expected = BEYOND_GO.get(text) ?? (ns === null ? undefined : BigInt(ns))
      expect(parseNanos(text)).toBe(expected)
    })
  }

  for (const { ns, out } of format) {
    test(`${ns} ns is written ${out}`, () => expect(formatNanos(BigInt(ns))).toBe(out))
  }
})

test('a duration is rounded up to whole microseconds, so that a period never gets shorter', () => {
  expect(parseDuration('1ns')).toBe(1)
  expect(parseDuration('1ms2us3ns')).toBe(1_003)
  expect(parseDuration('-1ns')).toBe(0)
})

test('days and weeks mix with the rest', () => {
  expect(parseDuration('1w2d3h')).toBe(days(9) + 3 * 3_600_000_000)
  expect(parseDuration('1.5d')).toBe(days(1.5))
})

test('what a span cannot hold is no duration here, although Go can hold it', () => {
  expect(parseNanos('2562047h')).toBeDefined()
  expect(parseDuration('2562047h')).toBeUndefined()
})

test('text of absurd length is refused before it is read', () => {
  expect(parseDuration(`${'0'.repeat(1_000)}1s`)).toBeUndefined()
})

test('spans are written as Go writes them', () => {
  expect(formatDuration(days(7))).toBe('168h0m0s')
  expect(formatDuration(minutes(5))).toBe('5m0s')
  expect(formatDuration(span(1_500_000))).toBe('1.5s')
})
