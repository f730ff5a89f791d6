/** The grammar of delays in version 2 of the cloud backup domain. */
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { days, hours, minutes, type Span, seconds, span } from '../../core/time.ts'
import { parseDelay, parseDelayExpression } from './delay-expression.ts'

describe('an expression', () => {
  const rows: readonly (readonly [string, number, Span, Span | undefined])[] = [
    ['0', 1, days(0), days(0)],
    ['1 day', 1, days(0), days(1)],
    ['2 days', 1, days(0), days(2)],
    ['1h30m', 1, days(0), minutes(90)],
    ['d[i-1] + i days', 7, days(4), days(11)],
    ['d[i-1] * 2', 3, hours(5), hours(10)],
    ['min(d[i-1] * 2, 30 days)', 9, days(20), days(30)],
    ['max(1 hour, i minutes)', 90, days(0), minutes(90)],
    ['(i - 1) * (i + 1) * 1 second', 5, days(0), seconds(24)],
    ['(i * i) hours', 3, days(0), hours(9)],
    ['1 week - 1 day', 1, days(0), days(6)],
    ['2 * 3 + 4', 1, days(0), undefined],
    ['1 day + 2 * 3 hours', 1, days(0), hours(30)],
  ]
  for (const [text, i, previous, delay] of rows.filter(([, , , result]) => result !== undefined)) {
    test(`${text} with i = ${i}`, () => {
      expect(parseDelayExpression(text)(i, previous)).toBe(delay)
    })
  }

  test('that comes out negative or too long has no delay: no attempt follows', () => {
    expect(parseDelayExpression('d[i-1] - 1 day')(2, days(0))).toBeUndefined()
    expect(parseDelayExpression('d[i-1] * i')(2 ** 30, days(100_000))).toBeUndefined()
    expect(parseDelayExpression('max(1 day, d[i-1] * i)')(2 ** 30, days(100_000))).toBeUndefined()
  })

  const refused: readonly (readonly [string, string])[] = [
    ['', 'must have a number'],
    ['i', 'must be a length of time'],
    ['2 * 3 + 4', 'must be a length of time'],
    ['d[i-1] + i', '+ needs two lengths'],
    ['1 day * 1 day', 'may not multiply two lengths'],
    ['1 day day', 'must end here'],
    ['d[i-1] days', 'may give a unit to a number only'],
    ['d[i-2]', 'may hold'],
    ['1 month', 'must end here'],
    ['eval(1)', 'may name only'],
    ['min(1 day)', 'must have , here'],
    ['(1 day', 'must have ) here'],
    ['1 day)', 'must end here'],
    ['1 / 2', 'may hold'],
    ['1.5 days', 'may hold'],
    ['1e9 days', 'must end here'],
    [`${'('.repeat(17)}1 day${')'.repeat(17)}`, 'may nest at most 16 deep'],
    ['i '.repeat(101), 'must be at most 200 characters'],
    [';process.exit()', 'may hold'],
  ]
  for (const [text, rule] of refused) {
    test(`is refused: ${text.slice(0, 30)}`, () => {
      const mistake = mistakeOf(() => parseDelayExpression(text))
      expect(mistake.code).toBe('EXPRESSION_INVALID')
      expect(mistake.rule).toContain(rule)
    })
  }
})

describe('a plain delay, of version 1', () => {
  test('is a whole number and its unit, or what Go reads', () => {
    expect(parseDelay('1 day')).toBe(days(1))
    expect(parseDelay('2 days')).toBe(days(2))
    expect(parseDelay('90 seconds')).toBe(seconds(90))
    expect(parseDelay('1h30m')).toBe(minutes(90))
    expect(parseDelay('0')).toBe(span(0))
    expect(parseDelay('3 weeks')).toBe(days(21))
  })

  test('is nothing else', () => {
    for (const text of [
      '',
      'day',
      '1',
      '-1 day',
      '1  day',
      '1 month',
      '1.5 days',
      '01 days',
      '-1h',
      'i days',
    ]) {
      expect(parseDelay(text), text).toBeUndefined()
    }
  })
})
