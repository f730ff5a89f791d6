/** Amounts of money: decimal text outside, a bigint of the smallest unit inside, never a fraction. */
import { HeadgateError, quote } from '../core/errors.ts'
import type { Allowance } from './plans/plan.ts'

type AmountErrorCode = 'AMOUNT_INVALID' | 'UNIT_INVALID'

/** What people call the money, and how many decimal places it has: an amount counts the last of them. */
export interface Unit {
  readonly name: string
  readonly decimals: number
}

/** Amounts are in tinybars. */
export const HBAR: Unit = { name: 'HBAR', decimals: 8 }

/** As many as 256 bits need: no token counts further. */
export const MAX_AMOUNT_DIGITS = 78

/** Tokens have 18 at most by custom; beyond 30 it is a slip. */
export const MAX_DECIMALS = 30

const MAX_UNIT_NAME = 32

/**
 * Digits, or a JSON number that is exact. `thing` names the amount in messages. Signs, fractions,
 * exponents, separators and the empty text are refused: each is read differently somewhere.
 */
export const parseAmount = (value: unknown, thing: string): bigint => {
  if (typeof value === 'bigint') return value >= 0n ? value : refuseAmount(thing, `${value}`)
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0
      ? BigInt(value)
      : refuseAmount(thing, `${value}${value > Number.MAX_SAFE_INTEGER ? UNSAFE : ''}`)
  }
  if (typeof value !== 'string') return refuseAmount(thing, `a value of type ${typeof value}`)
  return DIGITS.test(value) && value.length <= MAX_AMOUNT_DIGITS
    ? BigInt(value)
    : refuseAmount(thing, quote(value))
}

/** An amount, or the word `unlimited`. */
export const parseAllowance = (value: unknown, thing: string): Allowance =>
  value === 'unlimited' ? value : parseAmount(value, thing)

/** As people write it, in whole units: `4.5` HBAR. No more places than the unit has. */
export const parseQuantity = (text: string, { name, decimals }: Unit, thing: string): bigint => {
  const [, whole = '', fraction = ''] = QUANTITY.exec(text) ?? []
  if (whole === '' || whole.length > MAX_AMOUNT_DIGITS || fraction.length > decimals) {
    const rule = `must be an amount of ${name} with at most ${decimals} decimal places`
    throw new HeadgateError<AmountErrorCode>({
      code: 'AMOUNT_INVALID',
      thing,
      rule,
      finding: quote(text),
    })
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** For people: `4.47191667 HBAR`. Below zero where more was spent than there was. */
export const formatAmount = (amount: bigint, { name, decimals }: Unit): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`} ${name}`
}

/** `447191667 (4.47191667 HBAR)`: first as it is configured, sent and kept, so that all outputs compare. */
export const formatAllowance = (allowance: Allowance, unit: Unit): string =>
  allowance === 'unlimited' ? allowance : `${allowance} (${formatAmount(allowance, unit)})`

/** `Math.min` and `Math.max` take no bigint. */
export const minAmount = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const maxAmount = (a: bigint, b: bigint): bigint => (a > b ? a : b)

export const checkUnit = (unit: Unit): Unit => {
  const { name, decimals } = unit
  if (name.trim() === '' || name.length > MAX_UNIT_NAME) {
    const rule = `must be 1 to ${MAX_UNIT_NAME} characters long`
    throw new HeadgateError<AmountErrorCode>({
      code: 'UNIT_INVALID',
      thing: 'unit name',
      rule,
      finding: quote(name),
    })
  }
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS) {
    const rule = `must be a whole number from 0 to ${MAX_DECIMALS}`
    throw new HeadgateError<AmountErrorCode>({
      code: 'UNIT_INVALID',
      thing: `decimals of ${name}`,
      rule,
      finding: `${decimals}`,
    })
  }
  return unit
}

const DIGITS = /^\d+$/
const QUANTITY = /^(\d+)(?:\.(\d+))?$/
const UNSAFE = ' (beyond 2^53 a JSON number is not exact; send it as text)'

const refuseAmount = (thing: string, finding: string): never => {
  const rule = `must be a whole number of the smallest unit, not negative, as 1 to ${MAX_AMOUNT_DIGITS} digits`
  throw new HeadgateError<AmountErrorCode>({ code: 'AMOUNT_INVALID', thing, rule, finding })
}
