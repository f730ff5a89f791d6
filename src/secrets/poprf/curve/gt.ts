/** GT: the order-r subgroup of Fp12, written multiplicatively, 576 bytes an element. */
import { concatBytes } from '@noble/hashes/utils.js'
import {
  type Bytes,
  readLittleEndian,
  refusePoprf,
  requireLength,
  writeLittleEndian,
} from '../bytes.ts'
import { FIELD_BYTES, P, X } from './field.ts'
import type { Fp2 } from './fp2.ts'
import {
  conjugateFp12,
  cyclotomicSquare,
  equalFp12,
  type Fp12,
  frobenius,
  mulFp12,
  ONE_FP12,
  ZERO_FP12,
} from './fp12.ts'

export type Gt = Fp12

export const GT_BYTES = 12 * FIELD_BYTES

export const GT_ONE: Gt = ONE_FP12
export const mulGt = mulFp12
export const equalGt = equalFp12

/** Elements of GT have norm 1, so that their conjugate is their inverse. */
export const invGt = conjugateFp12

/**
 * For elements of GT only. Which squares and products are taken depends on the exponent's length
 * alone; how long each takes is up to the runtime's big integers.
 */
export const powGt = (base: Gt, exponent: bigint): Gt => {
  const table = [GT_ONE]
  for (let at = 1; at < 16; at++) table.push(mulGt(table[at - 1] ?? GT_ONE, base))
  let result = GT_ONE
  for (const digit of exponent.toString(16)) {
    for (let at = 0; at < 4; at++) result = cyclotomicSquare(result)
    result = mulGt(result, table[Number.parseInt(digit, 16)] ?? GT_ONE)
  }
  return result
}

/** By x, whose seven set bits make plain square-and-multiply the fastest. */
export const powByX = (base: Gt): Gt => {
  let result = base
  for (const bit of X.toString(2).slice(1)) {
    result = cyclotomicSquare(result)
    if (bit === '1') result = mulGt(result, base)
  }
  return result
}

export const encodeGt = ({ c0, c1 }: Gt): Bytes =>
  concatBytes(
    ...[c0.c0, c0.c1, c0.c2, c1.c0, c1.c1, c1.c2].flatMap((pair: Fp2) => [
      writeLittleEndian(pair.c0, FIELD_BYTES),
      writeLittleEndian(pair.c1, FIELD_BYTES),
    ]),
  )

/** Refuses what is not canonical, outside the group, or its identity: no honest evaluation is 1. */
export const decodeGt = (thing: string, bytes: Bytes): Gt => {
  requireLength(thing, bytes, GT_BYTES)
  const pair = (at: number): Fp2 => ({
    c0: coordinate(thing, bytes, 2 * at),
    c1: coordinate(thing, bytes, 2 * at + 1),
  })
  const element = {
    c0: { c0: pair(0), c1: pair(1), c2: pair(2) },
    c1: { c0: pair(3), c1: pair(4), c2: pair(5) },
  }
  if (!isInGt(element)) return refuseElement(thing, 'must lie in the group of prime order')
  return equalGt(element, GT_ONE) ? refuseElement(thing, 'must not be the identity') : element
}

/**
 * In the cyclotomic subgroup, and there the Frobenius map is the power x. Exactly the elements of
 * order r do both, as gcd((p⁴ − p² + 1) / r, (x − 1)² / 3) = 1; a test computes it.
 */
export function isInGt(element: Gt): boolean {
  // 0 is its own every power and would pass; a response of zeros would then verify.
  if (equalGt(element, ZERO_FP12)) return false
  const squared = frobenius(element, 2)
  const cyclotomic = equalGt(mulGt(frobenius(squared, 2), element), squared)
  return cyclotomic && equalGt(frobenius(element, 1), powByX(element))
}

function coordinate(thing: string, bytes: Bytes, at: number): bigint {
  const value = readLittleEndian(bytes.subarray(at * FIELD_BYTES, (at + 1) * FIELD_BYTES))
  return value < P ? value : refuseElement(thing, 'must have coordinates below the field prime')
}

function refuseElement(thing: string, rule: string): never {
  return refusePoprf({ code: 'POPRF_EVALUATION_INVALID', thing, rule })
}
