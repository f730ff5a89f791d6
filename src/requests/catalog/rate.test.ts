import { expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { parseDocument } from '../../documents/document.ts'
import { gatherFields } from '../../documents/field.ts'
import { gathering } from '../../documents/mistakes.ts'
import { RATE_FIELDS, readRate } from './rate.ts'

const rate = (burst: number, count: number, period: string) => {
  const node = parseDocument(`{burst: ${burst}, count: ${count}, period: ${period}}`, 'test.yml')
  const field = { thing: 'NewFoos', node }
  const mistakes = gathering()
  const shape = { required: RATE_FIELDS, optional: [] }
  const checked = readRate(gatherFields(field, shape, mistakes), 'NewFoos', mistakes)
  mistakes.end()
  if (checked === undefined) throw new Error('neither a rate nor a mistake')
  return checked
}

test('a rate is kept as configured, its period in microseconds', () => {
  expect(rate(20, 40, '1s')).toEqual({
    limit: { kind: 'gcra', burst: 20, count: 40, period: 1_000_000 },
    warnings: [],
  })
})

test.each([
  [1, '1us', true],
  [1, '999ns', false],
  [1, '1ns', false],
  [1_000_000, '1s', true],
  [1_000_001, '1s', false],
])('%d tokens in %s: at least a microsecond each? %s', (count, period, accepted) => {
  if (accepted) expect(rate(1, count, period).limit.count).toBe(count)
  else expect(mistakeOf(() => rate(1, count, period)).code).toBe('LIMIT_TOO_FAST')
})

test('the refusal of a rate that is too fast says by what', () => {
  expect(mistakeOf(() => rate(1, 2, '1us')).message).toBe(
    'test.yml:1:30: NewFoos: must give each token at least 1µs: period divided by count, ' +
      'found 1µs for 2 tokens',
  )
})

test('a bucket that would take beyond 2^52 microseconds to fill is refused', () => {
  const most = 2 ** 52 / 1_000_000
  expect(rate(Math.floor(most), 1, '1s').limit.burst).toBe(4_503_599_627)
  expect(mistakeOf(() => rate(Math.ceil(most), 1, '1s'))).toMatchObject({
    code: 'LIMIT_TOO_LARGE',
    finding: 'a burst of 4503599628, where at most 4503599627 would do',
  })
  expect(mistakeOf(() => rate(Number.MAX_SAFE_INTEGER, 1, '280w')).code).toBe('LIMIT_TOO_LARGE')
})

test.each([
  [300, '180m'],
  [10_000, '1s'],
  // 100.01µs become 101µs: just under one part in a hundred.
  [9_999, '1s'],
])('rounding %d tokens in %s to whole microseconds is not worth a word', (count, period) => {
  expect(rate(1, count, period).warnings).toEqual([])
})

test('rounding that slows a rate by over 1% is told, as a value', () => {
  expect(rate(1, 300_000, '1s').warnings).toEqual([
    {
      code: 'RATE_ROUNDED',
      thing: 'NewFoos',
      rule: 'is kept in whole microseconds a token, rounded up',
      finding: '4µs a token, which slows the rate by 20%',
      at: { file: 'test.yml', line: 1, column: 35 },
    },
  ])
})
