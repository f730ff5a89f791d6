/**
 * Fp6 = Fp2[v] / (v³ − u) and Fp12 = Fp6[w] / (w² − v): the upper floors of the tower, where pairings
 * end. Squaring by Granger and Scott, eprint 2009/565.
 */

import { P, powFp } from './field.ts'
import {
  addFp2,
  conjugateFp2,
  doubleFp2,
  equalFp2,
  type Fp2,
  invFp2,
  mulByU,
  mulFp2,
  negFp2,
  ONE_FP2,
  scaleFp2,
  squareFp2,
  subFp2,
  ZERO_FP2,
} from './fp2.ts'

export interface Fp6 {
  readonly c0: Fp2
  readonly c1: Fp2
  readonly c2: Fp2
}

export const ZERO_FP6: Fp6 = { c0: ZERO_FP2, c1: ZERO_FP2, c2: ZERO_FP2 }
export const ONE_FP6: Fp6 = { c0: ONE_FP2, c1: ZERO_FP2, c2: ZERO_FP2 }

const equalFp6 = (a: Fp6, b: Fp6): boolean =>
  equalFp2(a.c0, b.c0) && equalFp2(a.c1, b.c1) && equalFp2(a.c2, b.c2)

export const addFp6 = (a: Fp6, b: Fp6): Fp6 => ({
  c0: addFp2(a.c0, b.c0),
  c1: addFp2(a.c1, b.c1),
  c2: addFp2(a.c2, b.c2),
})

const subFp6 = (a: Fp6, b: Fp6): Fp6 => ({
  c0: subFp2(a.c0, b.c0),
  c1: subFp2(a.c1, b.c1),
  c2: subFp2(a.c2, b.c2),
})

const negFp6 = (a: Fp6): Fp6 => ({ c0: negFp2(a.c0), c1: negFp2(a.c1), c2: negFp2(a.c2) })

/** Six products instead of nine (Karatsuba). */
export const mulFp6 = (a: Fp6, b: Fp6): Fp6 => {
  const t0 = mulFp2(a.c0, b.c0)
  const t1 = mulFp2(a.c1, b.c1)
  const t2 = mulFp2(a.c2, b.c2)
  const t12 = mulFp2(addFp2(a.c1, a.c2), addFp2(b.c1, b.c2))
  const t01 = mulFp2(addFp2(a.c0, a.c1), addFp2(b.c0, b.c1))
  const t02 = mulFp2(addFp2(a.c0, a.c2), addFp2(b.c0, b.c2))
  return {
    c0: addFp2(t0, mulByU(subFp2(subFp2(t12, t1), t2))),
    c1: addFp2(subFp2(subFp2(t01, t0), t1), mulByU(t2)),
    c2: addFp2(subFp2(subFp2(t02, t0), t2), t1),
  }
}

/** Times b0 + b1·v, the upper half of every line of the pairing. */
const mulBy01 = (a: Fp6, b0: Fp2, b1: Fp2): Fp6 => {
  const t0 = mulFp2(a.c0, b0)
  const t1 = mulFp2(a.c1, b1)
  const t01 = mulFp2(addFp2(a.c0, a.c1), addFp2(b0, b1))
  return {
    c0: addFp2(t0, mulByU(mulFp2(a.c2, b1))),
    c1: subFp2(subFp2(t01, t0), t1),
    c2: addFp2(mulFp2(a.c2, b0), t1),
  }
}

const scaleFp6 = (a: Fp6, by: Fp2): Fp6 => ({
  c0: mulFp2(a.c0, by),
  c1: mulFp2(a.c1, by),
  c2: mulFp2(a.c2, by),
})

/** Times v, the non-residue that makes Fp12. */
const mulByV = (a: Fp6): Fp6 => ({ c0: mulByU(a.c2), c1: a.c0, c2: a.c1 })

const invFp6 = (a: Fp6): Fp6 => {
  const t0 = subFp2(squareFp2(a.c0), mulByU(mulFp2(a.c1, a.c2)))
  const t1 = subFp2(mulByU(squareFp2(a.c2)), mulFp2(a.c0, a.c1))
  const t2 = subFp2(squareFp2(a.c1), mulFp2(a.c0, a.c2))
  const cross = addFp2(mulFp2(a.c2, t1), mulFp2(a.c1, t2))
  const norm = invFp2(addFp2(mulFp2(a.c0, t0), mulByU(cross)))
  return { c0: mulFp2(t0, norm), c1: mulFp2(t1, norm), c2: mulFp2(t2, norm) }
}

export interface Fp12 {
  readonly c0: Fp6
  readonly c1: Fp6
}

export const ZERO_FP12: Fp12 = { c0: ZERO_FP6, c1: ZERO_FP6 }
export const ONE_FP12: Fp12 = { c0: ONE_FP6, c1: ZERO_FP6 }

export const equalFp12 = (a: Fp12, b: Fp12): boolean => equalFp6(a.c0, b.c0) && equalFp6(a.c1, b.c1)

export const mulFp12 = (a: Fp12, b: Fp12): Fp12 => {
  const low = mulFp6(a.c0, b.c0)
  const high = mulFp6(a.c1, b.c1)
  const cross = mulFp6(addFp6(a.c0, a.c1), addFp6(b.c0, b.c1))
  return { c0: addFp6(low, mulByV(high)), c1: subFp6(subFp6(cross, low), high) }
}

export const squareFp12 = (a: Fp12): Fp12 => {
  const cross = mulFp6(a.c0, a.c1)
  const sum = mulFp6(addFp6(a.c0, a.c1), addFp6(a.c0, mulByV(a.c1)))
  return {
    c0: subFp6(subFp6(sum, cross), mulByV(cross)),
    c1: addFp6(cross, cross),
  }
}

/** Times `at0 + (at1 + at3·v)·w`: a line of the pairing, most of whose coefficients are 0. */
export const mulByLine = (a: Fp12, at0: Fp2, at1: Fp2, at3: Fp2): Fp12 => {
  const low = scaleFp6(a.c0, at0)
  const high = mulBy01(a.c1, at1, at3)
  const cross = mulBy01(addFp6(a.c0, a.c1), addFp2(at0, at1), at3)
  return { c0: addFp6(low, mulByV(high)), c1: subFp6(subFp6(cross, low), high) }
}

/** The map a ↦ a^(p⁶); the inverse of whatever a pairing returns. */
export const conjugateFp12 = (a: Fp12): Fp12 => ({ c0: a.c0, c1: negFp6(a.c1) })

export const invFp12 = (a: Fp12): Fp12 => {
  const norm = invFp6(subFp6(mulFp6(a.c0, a.c0), mulByV(mulFp6(a.c1, a.c1))))
  return { c0: mulFp6(a.c0, norm), c1: negFp6(mulFp6(a.c1, norm)) }
}

/** w^(p−1). It lies in Fp, because 12 divides p − 1 and w¹² = −5. */
export const GAMMA = powFp(P - 5n, (P - 1n) / 12n)

const GAMMA_POWERS = Array.from({ length: 12 }, (_, k) => powFp(GAMMA, BigInt(k)))

/** a ↦ a^(p^power), for a power of 1, 2 or 3. */
export const frobenius = (a: Fp12, power: 1 | 2 | 3): Fp12 => {
  const at = (coefficient: Fp2, degree: number): Fp2 => {
    const moved = power === 2 ? coefficient : conjugateFp2(coefficient)
    return scaleFp2(moved, GAMMA_POWERS[(degree * power) % 12] ?? 0n)
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
      c0: tripleMore(mulByU(c1), a.c1.c0),
      c1: tripleMore(a1, a.c1.c1),
      c2: tripleMore(b1, a.c1.c2),
    },
  }
}

function squareOverFp4(low: Fp2, high: Fp2): readonly [Fp2, Fp2] {
  const lows = squareFp2(low)
  const highs = squareFp2(high)
  const cross = subFp2(subFp2(squareFp2(addFp2(low, high)), lows), highs)
  return [addFp2(lows, mulByU(highs)), cross]
}

const tripleLess = (t: Fp2, z: Fp2): Fp2 => addFp2(doubleFp2(subFp2(t, z)), t)
const tripleMore = (t: Fp2, z: Fp2): Fp2 => addFp2(doubleFp2(addFp2(t, z)), t)
