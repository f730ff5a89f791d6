/** Fp2 = Fp[u] / (u² + 5): where the twist's coordinates live. */
import { FpInvertBatch, type IField } from '@noble/curves/abstract/modular.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { assert } from '../../../core/errors.ts'
import { readLittleEndian, writeLittleEndian } from '../bytes.ts'
import {
  addFp,
  FIELD_BITS,
  FIELD_BYTES,
  halfFp,
  invFp,
  isLargerFp,
  mulFp,
  negFp,
  P,
  reduceFp,
  sqrtFp,
  subFp,
} from './field.ts'

export interface Fp2 {
  readonly c0: bigint
  readonly c1: bigint
}

export const ZERO_FP2: Fp2 = { c0: 0n, c1: 0n }
export const ONE_FP2: Fp2 = { c0: 1n, c1: 0n }

/** −u² as a number. */
const BETA = 5n
const INVERSE_OF_MINUS_BETA = invFp(P - BETA)

const isZeroFp2 = (a: Fp2): boolean => a.c0 === 0n && a.c1 === 0n
export const equalFp2 = (a: Fp2, b: Fp2): boolean => a.c0 === b.c0 && a.c1 === b.c1

export const addFp2 = (a: Fp2, b: Fp2): Fp2 => ({ c0: addFp(a.c0, b.c0), c1: addFp(a.c1, b.c1) })
export const subFp2 = (a: Fp2, b: Fp2): Fp2 => ({ c0: subFp(a.c0, b.c0), c1: subFp(a.c1, b.c1) })
export const negFp2 = (a: Fp2): Fp2 => ({ c0: negFp(a.c0), c1: negFp(a.c1) })
export const doubleFp2 = (a: Fp2): Fp2 => addFp2(a, a)

/** Also the Frobenius map: u^p = −u. */
export const conjugateFp2 = (a: Fp2): Fp2 => ({ c0: a.c0, c1: negFp(a.c1) })

/** Three products (Karatsuba) and two reductions: in between, sums stay unreduced. */
export const mulFp2 = (a: Fp2, b: Fp2): Fp2 => {
  const low = a.c0 * b.c0
  const high = a.c1 * b.c1
  const cross = (a.c0 + a.c1) * (b.c0 + b.c1) - low - high
  return { c0: reduceFp(low - BETA * high), c1: cross % P }
}

export const squareFp2 = (a: Fp2): Fp2 => ({
  c0: reduceFp(a.c0 * a.c0 - BETA * a.c1 * a.c1),
  c1: (2n * a.c0 * a.c1) % P,
})

export const scaleFp2 = (a: Fp2, by: bigint): Fp2 => ({ c0: mulFp(a.c0, by), c1: mulFp(a.c1, by) })

/** Times u, the non-residue that makes Fp6. */
export const mulByU = (a: Fp2): Fp2 => ({ c0: reduceFp(-BETA * a.c1), c1: a.c0 })

export const invFp2 = (a: Fp2): Fp2 => {
  const norm = invFp(reduceFp(a.c0 * a.c0 + BETA * a.c1 * a.c1))
  return { c0: mulFp(a.c0, norm), c1: mulFp(negFp(a.c1), norm) }
}

const powFp2 = (base: Fp2, exponent: bigint): Fp2 => {
  let result = ONE_FP2
  for (const bit of exponent.toString(2)) {
    result = squareFp2(result)
    if (bit === '1') result = mulFp2(result, base)
  }
  return result
}

/** By way of the norm; undefined for what is no square. */
export const sqrtFp2 = (a: Fp2): Fp2 | undefined => {
  if (a.c1 === 0n) return sqrtOfBase(a.c0)
  const norm = sqrtFp(reduceFp(a.c0 * a.c0 + BETA * a.c1 * a.c1))
  if (norm === undefined) return undefined
  const c0 = sqrtFp(halfFp(addFp(a.c0, norm))) ?? sqrtFp(halfFp(subFp(a.c0, norm)))
  if (c0 === undefined) return undefined
  const root = { c0, c1: mulFp(a.c1, invFp(addFp(c0, c0))) }
  return equalFp2(squareFp2(root), a) ? root : undefined
}

/** Which of y and −y a compressed point means: u's coefficient decides, unless it is 0. */
export const isLargerFp2 = (y: Fp2): boolean => isLargerFp(y.c1 === 0n ? y.c0 : y.c1)

/** Every element of Fp has a root in Fp2: its own, or u times that of a/−5. */
function sqrtOfBase(value: bigint): Fp2 | undefined {
  const root = sqrtFp(value)
  if (root !== undefined) return { c0: root, c1: 0n }
  const c1 = sqrtFp(mulFp(value, INVERSE_OF_MINUS_BETA))
  return c1 === undefined ? undefined : { c0: 0n, c1 }
}

// Fp2 in the shape that the generic curve arithmetic expects of a field.

const times = (a: Fp2, b: Fp2 | bigint): Fp2 =>
  typeof b === 'bigint' ? scaleFp2(a, reduceFp(b)) : mulFp2(a, b)

const over = (a: Fp2, b: Fp2 | bigint): Fp2 =>
  typeof b === 'bigint' ? scaleFp2(a, invFp(reduceFp(b))) : mulFp2(a, invFp2(b))

const isValid = ({ c0, c1 }: Fp2): boolean => c0 >= 0n && c0 < P && c1 >= 0n && c1 < P

const root = (a: Fp2): Fp2 => {
  const found = sqrtFp2(a)
  assert(found !== undefined, 'the curve arithmetic takes roots of squares only')
  return found
}

/** The `N` operations may leave their result unreduced; these do not. */
export const Fp2Field: IField<Fp2> = {
  ORDER: P * P,
  BYTES: 2 * FIELD_BYTES,
  BITS: 2 * FIELD_BITS,
  isLE: true,
  ZERO: ZERO_FP2,
  ONE: ONE_FP2,
  create: ({ c0, c1 }) => Object.freeze({ c0: reduceFp(c0), c1: reduceFp(c1) }),
  isValid,
  is0: isZeroFp2,
  isValidNot0: (a) => isValid(a) && !isZeroFp2(a),
  neg: negFp2,
  inv: invFp2,
  sqrt: root,
  sqr: squareFp2,
  eql: equalFp2,
  add: addFp2,
  sub: subFp2,
  mul: times,
  pow: powFp2,
  div: over,
  addN: addFp2,
  subN: subFp2,
  mulN: times,
  sqrN: squareFp2,
  invertBatch: (list) => FpInvertBatch(Fp2Field, list, true),
  toBytes: ({ c0, c1 }) =>
    concatBytes(writeLittleEndian(c0, FIELD_BYTES), writeLittleEndian(c1, FIELD_BYTES)),
  fromBytes: (bytes) => ({
    c0: readLittleEndian(bytes.subarray(0, FIELD_BYTES)),
    c1: readLittleEndian(bytes.subarray(FIELD_BYTES)),
  }),
  cmov: (a, b, choose) => (choose ? b : a),
}
