/** Numbers as the text that stores keep: decimal, separated by spaces. */
import { assert } from './errors.ts'
import type { Value } from './store.ts'

const ZERO = 48
const MINUS = 45
const SPACE = 32

export function wholeNumbers(value: Value, count: number): number[] {
  const numbers = new Float64Array(count)
  readNumbers(value, numbers, count, count)
  return [...numbers]
}

/**
 * Digit by digit, into a place that the caller keeps: on the path of every decision. A list made for
 * each text took twice the time, and cutting the text for `Number` four times. Answers how many there
 * are, and throws unless these are `count`, or `most`.
 */
export function readNumbers(value: Value, into: Float64Array, count: number, most: number): number {
  let found = 0
  for (let at = 0; at <= value.length; at++) {
    const isNegative = value.charCodeAt(at) === MINUS
    if (isNegative) at += 1
    const start = at
    let read = 0
    for (; at < value.length; at++) {
      const digit = value.charCodeAt(at) - ZERO
      if (digit < 0 || digit > 9) break
      read = read * 10 + digit
    }
    const isWhole = at > start && Number.isSafeInteger(read)
    const ended = isWhole && (at === value.length || value.charCodeAt(at) === SPACE)
    // Asked before: a message that is built for each number would cost more than reading it.
    if (!ended) assert(ended, `whole numbers: ${JSON.stringify(value)}`)
    into[found] = isNegative ? 0 - read : read
    found += 1
  }
  const all = found === count || found === most
  if (!all) assert(all, `${count} numbers: ${JSON.stringify(value)}`)
  return found
}

export function threeNumbers(value: Value): [number, number, number] {
  const [first = 0, second = 0, third = 0] = wholeNumbers(value, 3)
  return [first, second, third]
}

export function wholeAmount(text: string | undefined): bigint {
  assert(text !== undefined && /^-?\d+$/.test(text), () => `an amount: ${text}`)
  return BigInt(text)
}
