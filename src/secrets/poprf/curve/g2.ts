/** G2: y² = x³ + 1/u over Fp2, which messages are hashed to and public keys lie in. Zexe, table 4. */
import { mulAddUnsafe } from '@noble/curves/abstract/curve.js'
import { type WeierstrassPoint, weierstrass } from '@noble/curves/abstract/weierstrass.js'
import { type Bytes, readLittleEndian, requireLength, split } from '../bytes.ts'
import { refusePoprf } from '../poprf-mistake.ts'
import { FIELD_BYTES, mul, P, X } from './field.ts'
import * as fp2 from './fp2.ts'
import { Fp2Field } from './fp2-field.ts'
import { GAMMA } from './fp12.ts'
import { readFlags, signed, withoutFlags } from './point-flags.ts'
import { Fr, R } from './scalar.ts'

export type G2 = WeierstrassPoint<fp2.Fp2>

export const G2_BYTES = 2 * FIELD_BYTES

/** The twist's own b: 1/u. */
export const TWIST_B = fp2.inv({ c0: 0n, c1: 1n })

const COFACTOR =
  (X ** 8n -
    4n * X ** 7n +
    5n * X ** 6n -
    4n * X ** 4n +
    6n * X ** 3n -
    4n * X ** 2n -
    4n * X +
    13n) /
  9n

const GENERATOR_X: fp2.Fp2 = {
  c0: 0x018480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196n,
  c1: 0x00ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afen,
}
const GENERATOR_Y: fp2.Fp2 = {
  c0: 0x00690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddfn,
  c1: 0x00f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93n,
}

const Points = weierstrass(
  {
    p: Fp2Field.ORDER,
    n: R,
    h: COFACTOR,
    a: fp2.ZERO,
    b: TWIST_B,
    Gx: GENERATOR_X,
    Gy: GENERATOR_Y,
  },
  { Fp: Fp2Field, Fn: Fr, isTorsionFree: (_, point) => isInGroup(point) },
)

export const G2_GENERATOR: G2 = Points.BASE
export const G2_ZERO: G2 = Points.ZERO

/** A point of the curve, not yet of the group: clear its cofactor. */
export const pointAtX2 = (x: fp2.Fp2, larger: boolean): G2 | undefined => {
  const y = fp2.sqrt(fp2.add(fp2.mul(fp2.square(x), x), TWIST_B))
  if (y === undefined) return undefined
  return Points.fromAffine({ x, y: fp2.isLarger(y) === larger ? y : fp2.neg(y) })
}

const CHUNK = 1n << 252n

/**
 * The whole cofactor, as the published library does it: a shorter multiple would be another point.
 * In two halves, because the generic arithmetic takes no scalar above r.
 */
export const clearCofactor2 = (point: G2): G2 =>
  point.multiplyUnsafe(COFACTOR / CHUNK).mulAddUnsafe(CHUNK, point, COFACTOR % CHUNK)

/** Σ scalarᵢ·pointᵢ in one walk, which shares the doublings. Public scalars only: its time tells them. */
export const sumOfProducts = (points: readonly G2[], scalars: readonly bigint[]): G2 =>
  mulAddUnsafe(Points, [...points], [...scalars])

/** Refuses what is not canonical, not on the curve, outside the group of order r, or its identity. */
export const decodeG2 = (thing: string, bytes: Bytes): G2 => {
  const point = pointAtX2(readAbscissa(thing, bytes), readFlags(bytes).larger)
  if (point === undefined) return refusePoint(thing, 'must be a point of the curve')
  return isInGroup(point) ? point : refusePoint(thing, 'must lie in the group of prime order')
}

/** As much of `decodeG2` as costs nothing; what is left needs a root and a multiplication. */
export const readAbscissa = (thing: string, bytes: Bytes): fp2.Fp2 => {
  requireLength(thing, bytes, G2_BYTES)
  if (readFlags(bytes).infinity) return refusePoint(thing, 'must not be the point at infinity')
  const [low = bytes, high = bytes] = split(withoutFlags(bytes), FIELD_BYTES, FIELD_BYTES)
  const x = { c0: readLittleEndian(low), c1: readLittleEndian(high) }
  return x.c0 < P && x.c1 < P
    ? x
    : refusePoint(thing, 'must have coordinates below the field prime')
}

export const encodeG2 = (point: G2): Bytes => {
  const { x, y } = point.toAffine()
  return signed(Fp2Field.toBytes(x), fp2.isLarger(y))
}

const PSI_X = mul(GAMMA, GAMMA)
const PSI_Y = mul(PSI_X, GAMMA)

/**
 * Scott's test (eprint 2021/1130): the Frobenius map multiplies exactly the group's points by x.
 * A multiplication of 64 bits instead of 253.
 */
function isInGroup(point: G2): boolean {
  if (point.is0()) return true
  const image = new Points(
    fp2.scale(fp2.conjugate(point.X), PSI_X),
    fp2.scale(fp2.conjugate(point.Y), PSI_Y),
    fp2.conjugate(point.Z),
  )
  return point.multiplyUnsafe(X).equals(image)
}

function refusePoint(thing: string, rule: string): never {
  return refusePoprf({ code: 'POPRF_POINT_INVALID', thing, rule })
}
