/**
 * The two groups of points, Zexe (eprint 2018/962), table 4. G1: y² = x³ + 1 over Fp, which tags are
 * hashed to. G2: y² = x³ + 1/u over Fp2, which messages are hashed to and public keys lie in.
 */
import { mulAddUnsafe } from '@noble/curves/abstract/curve.js'
import { type WeierstrassPoint, weierstrass } from '@noble/curves/abstract/weierstrass.js'
import {
  type Bytes,
  readLittleEndian,
  refusePoprf,
  requireLength,
  split,
  writeLittleEndian,
} from '../bytes.ts'
import { addFp, FIELD_BYTES, Fp, isLargerFp, mulFp, negFp, P, sqrtFp, X } from './field.ts'
import {
  addFp2,
  conjugateFp2,
  type Fp2,
  Fp2Field,
  invFp2,
  isLargerFp2,
  mulFp2,
  negFp2,
  scaleFp2,
  sqrtFp2,
  squareFp2,
  ZERO_FP2,
} from './fp2.ts'
import { GAMMA } from './fp12.ts'
import { Fr, R } from './scalar.ts'

export type G1 = WeierstrassPoint<bigint>

/** (x − 1)² / 3, of 126 bits. */
const COFACTOR_1 = (X - 1n) ** 2n / 3n

const Curve1 = weierstrass(
  {
    p: P,
    n: R,
    h: COFACTOR_1,
    a: 0n,
    b: 1n,
    Gx: 0x008848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9efn,
    Gy: 0x01914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6n,
  },
  { Fp, Fn: Fr },
)

export const G1_GENERATOR: G1 = Curve1.BASE

/** A point of the curve, not yet of the group: clear its cofactor. */
export const pointAtX1 = (x: bigint, larger: boolean): G1 | undefined => {
  const y = sqrtFp(addFp(mulFp(mulFp(x, x), x), 1n))
  if (y === undefined) return undefined
  return Curve1.fromAffine({ x, y: isLargerFp(y) === larger ? y : negFp(y) })
}

/** By the whole cofactor, as the published library does it: a shorter multiple would be another point. */
export const clearCofactor1 = (point: G1): G1 => point.multiplyUnsafe(COFACTOR_1)

/** No G1 point travels in this suite; the encoding is for vectors and for reading. */
export const encodeG1 = (point: G1): Bytes => {
  const { x, y } = point.toAffine()
  return withSign(writeLittleEndian(x, FIELD_BYTES), isLargerFp(y))
}

export type G2 = WeierstrassPoint<Fp2>

export const G2_BYTES = 2 * FIELD_BYTES

/** The twist's own b: 1/u. */
export const TWIST_B = invFp2({ c0: 0n, c1: 1n })

const COFACTOR_2 =
  (X ** 8n -
    4n * X ** 7n +
    5n * X ** 6n -
    4n * X ** 4n +
    6n * X ** 3n -
    4n * X ** 2n -
    4n * X +
    13n) /
  9n

const GENERATOR_X: Fp2 = {
  c0: 0x018480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196n,
  c1: 0x00ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afen,
}
const GENERATOR_Y: Fp2 = {
  c0: 0x00690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddfn,
  c1: 0x00f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93n,
}

const Curve2 = weierstrass(
  {
    p: Fp2Field.ORDER,
    n: R,
    h: COFACTOR_2,
    a: ZERO_FP2,
    b: TWIST_B,
    Gx: GENERATOR_X,
    Gy: GENERATOR_Y,
  },
  { Fp: Fp2Field, Fn: Fr, isTorsionFree: (_, point) => isInG2(point) },
)

export const G2_GENERATOR: G2 = Curve2.BASE
export const G2_ZERO: G2 = Curve2.ZERO

/** Not yet of the group either. */
export const pointAtX2 = (x: Fp2, larger: boolean): G2 | undefined => {
  const y = sqrtFp2(addFp2(mulFp2(squareFp2(x), x), TWIST_B))
  if (y === undefined) return undefined
  return Curve2.fromAffine({ x, y: isLargerFp2(y) === larger ? y : negFp2(y) })
}

const CHUNK = 1n << 252n

/** By the whole cofactor, too; in two halves, because the generic arithmetic takes no scalar above r. */
export const clearCofactor2 = (point: G2): G2 =>
  point.multiplyUnsafe(COFACTOR_2 / CHUNK).mulAddUnsafe(CHUNK, point, COFACTOR_2 % CHUNK)

/** Σ scalarᵢ·pointᵢ in one walk, which shares the doublings. For public scalars only: its time reveals them. */
export const sumOfProducts = (points: readonly G2[], scalars: readonly bigint[]): G2 =>
  mulAddUnsafe(Curve2, [...points], [...scalars])

/** Refuses what is not canonical, not on the curve, outside the group of order r, or its identity. */
export const decodeG2 = (thing: string, bytes: Bytes): G2 => {
  const point = pointAtX2(readAbscissa(thing, bytes), readFlags(bytes).larger)
  if (point === undefined) return refusePoint(thing, 'must be a point of the curve')
  return isInG2(point) ? point : refusePoint(thing, 'must lie in the group of prime order')
}

/** As much of `decodeG2` as costs microseconds: the rest needs a root and a multiplication. */
export const readAbscissa = (thing: string, bytes: Bytes): Fp2 => {
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
  return withSign(Fp2Field.toBytes(x), isLargerFp2(y))
}

const PSI_X = mulFp(GAMMA, GAMMA)
const PSI_Y = mulFp(PSI_X, GAMMA)

/**
 * Scott's test (eprint 2021/1130): the Frobenius map multiplies exactly the group's points by x.
 * A multiplication of 64 bits instead of 253.
 */
function isInG2(point: G2): boolean {
  if (point.is0()) return true
  const image = new Curve2(
    scaleFp2(conjugateFp2(point.X), PSI_X),
    scaleFp2(conjugateFp2(point.Y), PSI_Y),
    conjugateFp2(point.Z),
  )
  return point.multiplyUnsafe(X).equals(image)
}

function refusePoint(thing: string, rule: string): never {
  return refusePoprf({ code: 'POPRF_POINT_INVALID', thing, rule })
}

// The two flags in the last byte of a compressed point, as arkworks 0.3 sets them.

const LARGER = 0x80
const INFINITY = 0x40

interface PointFlags {
  /** Of y and −y, the larger one is meant. */
  readonly larger: boolean
  readonly infinity: boolean
}

function readFlags(point: Bytes): PointFlags {
  const last = point.at(-1) ?? 0
  return { larger: (last & LARGER) !== 0, infinity: (last & INFINITY) !== 0 }
}

/** The abscissa alone. Bits that are neither flag nor number stay, and make it too large. */
function withoutFlags(point: Bytes): Bytes {
  // Not slice(): of a Buffer that is a view, and the caller's point would lose its sign.
  const bare = Uint8Array.from(point)
  bare[bare.length - 1] = (point.at(-1) ?? 0) & ~(LARGER | INFINITY)
  return bare
}

function withSign(abscissa: Bytes, larger: boolean): Bytes {
  const point = Uint8Array.from(abscissa)
  point[point.length - 1] = (abscissa.at(-1) ?? 0) | (larger ? LARGER : 0)
  return point
}
