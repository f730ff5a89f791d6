import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import {
  checkUnit,
  formatAllowance,
  formatAmount,
  HBAR,
  MAX_AMOUNT_DIGITS,
  parseAllowance,
  parseAmount,
  parseQuantity,
} from './amount.ts'

const CENTS = { name: 'USD', decimals: 2 }
const TOKENS = { name: 'tokens', decimals: 0 }

describe('an amount from outside', () => {
  test.each([
    ['0', 0n],
    ['1000', 1000n],
    ['007', 7n],
    ['18446744073709551616', 18446744073709551616n],
    [0, 0n],
    [Number.MAX_SAFE_INTEGER, 9007199254740991n],
    [5n, 5n],
  ])('%s is accepted', (value, amount) => {
    expect(parseAmount(value, 'amount')).toBe(amount)
  })

  test.each([
    '-60',
    '1.5',
    'NaN',
    '',
    ' 5',
    '1e3',
    '0x10',
    '1_000',
    '+5',
    'Infinity',
    'unlimited',
    '9'.repeat(MAX_AMOUNT_DIGITS + 1),
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    -1n,
    null,
    undefined,
    true,
    {},
    [],
  ])('%s is refused', (value) => {
    expect(mistakeOf(() => parseAmount(value, 'estimate'))).toMatchObject({
      code: 'AMOUNT_INVALID',
      thing: 'estimate',
    })
  })

  test('a number beyond 2^53 is refused with what to do instead', () => {
    const { message } = mistakeOf(() => parseAmount(2 ** 53, 'estimate'))
    expect(message).toContain('send it as text')
  })

  test('is unlimited only where an allowance is meant', () => {
    expect(parseAllowance('unlimited', 'total')).toBe('unlimited')
    expect(parseAllowance('0', 'total')).toBe(0n)
  })
})

describe('amounts for people', () => {
  test.each([
    [447191667n, HBAR, '4.47191667 HBAR'],
    [100000000n, HBAR, '1 HBAR'],
    [1n, HBAR, '0.00000001 HBAR'],
    [-100n, CENTS, '-1 USD'],
    [-5n, CENTS, '-0.05 USD'],
    [0n, CENTS, '0 USD'],
    [12n, TOKENS, '12 tokens'],
  ])('%d is written %o as %s', (amount, unit, text) => {
    expect(formatAmount(amount, unit)).toBe(text)
  })

  test('a limit is told as it is configured, and for people; none is the word', () => {
    expect(formatAllowance('unlimited', HBAR)).toBe('unlimited')
    expect(formatAllowance(5n, TOKENS)).toBe('5 (5 tokens)')
    expect(formatAllowance(447191667n, HBAR)).toBe('447191667 (4.47191667 HBAR)')
  })

  test('what is written is read back to the unit', () => {
    const unit = fc.record({ name: fc.constant('X'), decimals: fc.nat(30) })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 200n }), unit, (amount, unit) => {
        const [text = ''] = formatAmount(amount, unit).split(' ')
        expect(parseQuantity(text, unit, 'amount')).toBe(amount)
      }),
    )
  })

  test.each(['0.123456789', '.5', '5.', '1e3', '-1', '', '1,5'])(
    '%j is no quantity of HBAR: nothing below the smallest unit exists',
    (text) => {
      expect(mistakeOf(() => parseQuantity(text, HBAR, 'grant')).code).toBe('AMOUNT_INVALID')
    },
  )
})

test.each([
  { name: '', decimals: 2 },
  { name: 'x'.repeat(33), decimals: 2 },
  { name: 'X', decimals: -1 },
  { name: 'X', decimals: 1.5 },
  { name: 'X', decimals: 31 },
])('$name with $decimals decimals is no unit', (unit) => {
  expect(mistakeOf(() => checkUnit(unit)).code).toBe('UNIT_INVALID')
})
