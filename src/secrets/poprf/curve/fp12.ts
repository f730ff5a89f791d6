/** Fp12 = Fp6[w] / (w² − v): where pairings end. Squaring by Granger and Scott, eprint 2009/565. */
import { P, pow as powFp } from './field.ts'
import * as fp2 from './fp2.ts'
import * as fp6 from './fp6.ts'

type Fp2 = fp2.Fp2
type Fp6 = fp6.Fp6

export interface Fp12 {
  readonly c0: Fp6
  readonly c1: Fp6
}

export const ZERO: Fp12 = { c0: fp6.ZERO, c1: fp6.ZERO }
export const ONE: Fp12 = { c0: fp6.ONE, c1: fp6.ZERO }

export const equal = (a: Fp12, b: Fp12): boolean => fp6.equal(a.c0, b.c0) && fp6.equal(a.c1, b.c1)

export const mul = (a: Fp12, b: Fp12): Fp12 => {
  const low = fp6.mul(a.c0, b.c0)
  const high = fp6.mul(a.c1, b.c1)
  const cross = fp6.mul(fp6.add(a.c0, a.c1), fp6.add(b.c0, b.c1))
  return { c0: fp6.add(low, fp6.mulByV(high)), c1: fp6.sub(fp6.sub(cross, low), high) }
}

export const square = (a: Fp12): Fp12 => {
  const cross = fp6.mul(a.c0, a.c1)
  const sum = fp6.mul(fp6.add(a.c0, a.c1), fp6.add(a.c0, fp6.mulByV(a.c1)))
  return {
    c0: fp6.sub(fp6.sub(sum, cross), fp6.mulByV(cross)),
    c1: fp6.add(cross, cross),
  }
}

/** Times `at0 + (at1 + at3·v)·w`: a line of the pairing, most of whose coefficients are 0. */
export const mulByLine = (a: Fp12, at0: Fp2, at1: Fp2, at3: Fp2): Fp12 => {
  const low = fp6.scale(a.c0, at0)
  const high = fp6.mulBy01(a.c1, at1, at3)
  const cross = fp6.mulBy01(fp6.add(a.c0, a.c1), fp2.add(at0, at1), at3)
  return { c0: fp6.add(low, fp6.mulByV(high)), c1: fp6.sub(fp6.sub(cross, low), high) }
}

/** The map a ↦ a^(p⁶); the inverse of whatever a pairing returns. */
export const conjugate = (a: Fp12): Fp12 => ({ c0: a.c0, c1: fp6.neg(a.c1) })

export const inv = (a: Fp12): Fp12 => {
  const norm = fp6.inv(fp6.sub(fp6.mul(a.c0, a.c0), fp6.mulByV(fp6.mul(a.c1, a.c1))))
  return { c0: fp6.mul(a.c0, norm), c1: fp6.neg(fp6.mul(a.c1, norm)) }
}

/** w^(p−1). It lies in Fp, because 12 divides p − 1 and w¹² = −5. */
export const GAMMA = powFp(P - 5n, (P - 1n) / 12n)

const GAMMA_POWERS = Array.from({ length: 12 }, (_, k) => powFp(GAMMA, BigInt(k)))

/** a ↦ a^(p^power), for a power of 1, 2 or 3. */
export const frobenius = (a: Fp12, power: 1 | 2 | 3): Fp12 => {
  const at = (coefficient: Fp2, degree: number): Fp2 => {
    const moved = power === 2 ? coefficient : fp2.conjugate(coefficient)
    return fp2.scale(moved, GAMMA_POWERS[(degree * power) % 12] ?? 0n)
  }
  return {
    c0: { c0: at(a.c0.c0, 0), c1: at(a.c0.c1, 2), c2: at(a.c0.c2, 4) },
    c1: { c0: at(a.c1.c0, 1), c1: at(a.c1.c1, 3), c2: at(a.c1.c2, 5) },
  }
}

/** Right only in the cyclotomic subgroup: there nine squares in Fp2 do for twelve products. */
export const cyclotomicSquare = (a: Fp12): Fp12 => {
  const [a0, a1] = squareOverFp4(a.c0.c0, a.c1.c1)
  const [b0, b1] = squareOverFp4(a.c1.c0, a.c0.c2)
  const [c0, c1] = squareOverFp4(a.c0.c1, a.c1.c2)
  return {
    c0: { c0: tripleLess(a0, a.c0.c0), c1: tripleLess(b0, a.c0.c1), c2: tripleLess(c0, a.c0.c2) },
    c1: {
      c0: tripleMore(fp2.mulByU(c1), a.c1.c0),
      c1: tripleMore(a1, a.c1.c1),
      c2: tripleMore(b1, a.c1.c2),
    },
  }
}

function squareOverFp4(low: Fp2, high: Fp2): readonly [Fp2, Fp2] {
  const lows = fp2.square(low)
  const highs = fp2.square(high)
  const cross = fp2.sub(fp2.sub(fp2.square(fp2.add(low, high)), lows), highs)
  return [fp2.add(lows, fp2.mulByU(highs)), cross]
}

const tripleLess = (t: Fp2, z: Fp2): Fp2 => fp2.add(fp2.double(fp2.sub(t, z)), t)
const tripleMore = (t: Fp2, z: Fp2): Fp2 => fp2.add(fp2.double(fp2.add(t, z)), t)
