/** Numbers as the text that stores keep: decimal, separated by spaces. */
import { assert } from './errors.ts'
import type { Value } from './store.ts'

const ZERO = 48
const MINUS = 45
const SPACE = 32

/**
 * Digit by digit: on the path of every decision, and cutting the text for `Number` took twice the
 * time. Throws unless there are `count` of them, or `most`.
 */
export function wholeNumbers(value: Value, count: number, most = count): number[] {
  const numbers: number[] = []
  let digits = 0
  let read = 0
  let sign = 1
  for (let at = 0; at <= value.length; at++) {
    const code = at === value.length ? SPACE : value.charCodeAt(at)
    const digit = code - ZERO
    if (digit >= 0 && digit <= 9) {
      read = read * 10 + digit
      digits += 1
    } else if (code === MINUS && digits === 0 && sign === 1) {
      sign = -1
    } else {
      const ended = code === SPACE && digits > 0 && Number.isSafeInteger(read)
      // Asked before: a message that is built for each number would cost more than reading it.
      if (!ended) assert(ended, `whole numbers: ${JSON.stringify(value)}`)
      numbers.push(read === 0 ? 0 : sign * read)
      digits = 0
      read = 0
      sign = 1
    }
  }
  const all = numbers.length === count || numbers.length === most
  if (!all) assert(all, `${count} numbers: ${JSON.stringify(value)}`)
  return numbers
}

export function threeNumbers(value: Value): [number, number, number] {
  const [first = 0, second = 0, third = 0] = wholeNumbers(value, 3)
  return [first, second, third]
}

export function wholeAmount(text: string | undefined): bigint {
  assert(text !== undefined && /^-?\d+$/.test(text), () => `an amount: ${text}`)
  return BigInt(text)
}
