/** Fp, the base field of BLS12-377. Zexe (eprint 2018/962), table 4; encodings as in arkworks 0.3. */
import { Field, invert } from '@noble/curves/abstract/modular.js'
import { assert } from '../../../core/errors.ts'

export const P =
  0x01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001n

/** The curve's parameter x: p, r, the cofactors and the pairing's loop all follow from it. */
export const X = 0x8508c00000000001n

export const FIELD_BITS = 377
export const FIELD_BYTES = 48

/** p − 1 = 2^TWO_ADICITY · ODD_PART. */
const TWO_ADICITY = 46
const ODD_PART = (P - 1n) >> BigInt(TWO_ADICITY)
const HALF = (P - 1n) / 2n

/** The field as the generic curve arithmetic wants it. */
export const Fp = Field(P, { isLE: true })

export const reduceFp = (value: bigint): bigint => {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

export const addFp = (a: bigint, b: bigint): bigint => {
  const sum = a + b
  return sum >= P ? sum - P : sum
}

export const subFp = (a: bigint, b: bigint): bigint => (a >= b ? a - b : a - b + P)
export const negFp = (a: bigint): bigint => (a === 0n ? 0n : P - a)
export const mulFp = (a: bigint, b: bigint): bigint => (a * b) % P
export const invFp = (a: bigint): bigint => invert(a, P)
export const halfFp = (a: bigint): bigint => ((a & 1n) === 0n ? a : a + P) >> 1n

export const powFp = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = mulFp(result, result)
    if (bit === '1') result = mulFp(result, base)
  }
  return result
}

/** Which of y and −y a compressed point means. */
export const isLargerFp = (y: bigint): boolean => y > HALF

/** -5 is no square, which is also why it makes Fp2. */
const GENERATOR_OF_TWO_PART = powFp(P - 5n, ODD_PART)

/** Tonelli and Shanks. Undefined for what is no square; no separate test, which would cost as much. */
export const sqrtFp = (value: bigint): bigint | undefined => {
  if (value === 0n) return 0n
  const power = powFp(value, (ODD_PART - 1n) / 2n)
  let root = mulFp(power, value)
  let rest = mulFp(root, power)
  let twist = GENERATOR_OF_TWO_PART
  let height = TWO_ADICITY
  while (rest !== 1n) {
    const order = twoOrder(rest)
    if (order >= height) return undefined
    for (let at = height - order - 1; at > 0; at--) twist = mulFp(twist, twist)
    root = mulFp(root, twist)
    twist = mulFp(twist, twist)
    rest = mulFp(rest, twist)
    height = order
  }
  return root
}

/** The k with value^(2^k) = 1. */
function twoOrder(value: bigint): number {
  let order = 0
  for (let square = value; square !== 1n; square = mulFp(square, square)) order += 1
  assert(order <= TWO_ADICITY, 'an element of odd order reached Tonelli and Shanks')
  return order
}
