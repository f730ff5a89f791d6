/** Fp2 in the shape that the generic curve arithmetic expects of a field. */
import { FpInvertBatch, type IField } from '@noble/curves/abstract/modular.js'
import { assert } from '../../../core/errors.ts'
import { concat, readLittleEndian, writeLittleEndian } from '../bytes.ts'
import { FIELD_BITS, FIELD_BYTES, inv, P, reduce } from './field.ts'
import * as fp2 from './fp2.ts'

type Fp2 = fp2.Fp2

const times = (a: Fp2, b: Fp2 | bigint): Fp2 =>
  typeof b === 'bigint' ? fp2.scale(a, reduce(b)) : fp2.mul(a, b)

const over = (a: Fp2, b: Fp2 | bigint): Fp2 =>
  typeof b === 'bigint' ? fp2.scale(a, inv(reduce(b))) : fp2.mul(a, fp2.inv(b))

const isValid = ({ c0, c1 }: Fp2): boolean => c0 >= 0n && c0 < P && c1 >= 0n && c1 < P

const root = (a: Fp2): Fp2 => {
  const found = fp2.sqrt(a)
  assert(found !== undefined, 'the curve arithmetic takes roots of squares only')
  return found
}

/** The `N` operations may leave their result unreduced; these do not. */
export const Fp2Field: IField<Fp2> = {
  ORDER: P * P,
  BYTES: 2 * FIELD_BYTES,
  BITS: 2 * FIELD_BITS,
  isLE: true,
  ZERO: fp2.ZERO,
  ONE: fp2.ONE,
  create: ({ c0, c1 }) => Object.freeze({ c0: reduce(c0), c1: reduce(c1) }),
  isValid,
  is0: fp2.isZero,
  isValidNot0: (a) => isValid(a) && !fp2.isZero(a),
  neg: fp2.neg,
  inv: fp2.inv,
  sqrt: root,
  sqr: fp2.square,
  eql: fp2.equal,
  add: fp2.add,
  sub: fp2.sub,
  mul: times,
  pow: fp2.pow,
  div: over,
  addN: fp2.add,
  subN: fp2.sub,
  mulN: times,
  sqrN: fp2.square,
  invertBatch: (list) => FpInvertBatch(Fp2Field, list, true),
  toBytes: ({ c0, c1 }) =>
    concat(writeLittleEndian(c0, FIELD_BYTES), writeLittleEndian(c1, FIELD_BYTES)),
  fromBytes: (bytes) => ({
    c0: readLittleEndian(bytes.subarray(0, FIELD_BYTES)),
    c1: readLittleEndian(bytes.subarray(FIELD_BYTES)),
  }),
  cmov: (a, b, choose) => (choose ? b : a),
}
