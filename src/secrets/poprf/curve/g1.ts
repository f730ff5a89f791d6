/** G1: y² = x³ + 1 over Fp, which tags are hashed to. Zexe (eprint 2018/962), table 4. */
import { type WeierstrassPoint, weierstrass } from '@noble/curves/abstract/weierstrass.js'
import { type Bytes, writeLittleEndian } from '../bytes.ts'
import { add, FIELD_BYTES, Fp, isLarger, mul, neg, P, sqrt, X } from './field.ts'
import { signed } from './point-flags.ts'
import { Fr, R } from './scalar.ts'

export type G1 = WeierstrassPoint<bigint>

/** (x − 1)² / 3, of 126 bits. */
const COFACTOR = (X - 1n) ** 2n / 3n

const Points = weierstrass(
  {
    p: P,
    n: R,
    h: COFACTOR,
    a: 0n,
    b: 1n,
    Gx: 0x008848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9efn,
    Gy: 0x01914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6n,
  },
  { Fp, Fn: Fr },
)

export const G1_GENERATOR: G1 = Points.BASE

/** A point of the curve, not yet of the group: clear its cofactor. */
export const pointAtX1 = (x: bigint, larger: boolean): G1 | undefined => {
  const y = sqrt(add(mul(mul(x, x), x), 1n))
  if (y === undefined) return undefined
  return Points.fromAffine({ x, y: isLarger(y) === larger ? y : neg(y) })
}

/** The whole cofactor, as the published library does it: a shorter multiple would be another point. */
export const clearCofactor1 = (point: G1): G1 => point.multiplyUnsafe(COFACTOR)

/** No G1 point travels in this suite; the encoding is for vectors and for reading. */
export const encodeG1 = (point: G1): Bytes => {
  const { x, y } = point.toAffine()
  return signed(writeLittleEndian(x, FIELD_BYTES), isLarger(y))
}
