/** Fp6 = Fp2[v] / (v³ − u): the middle floor of the tower. */
import * as fp2 from './fp2.ts'

type Fp2 = fp2.Fp2

export interface Fp6 {
  readonly c0: Fp2
  readonly c1: Fp2
  readonly c2: Fp2
}

export const ZERO: Fp6 = { c0: fp2.ZERO, c1: fp2.ZERO, c2: fp2.ZERO }
export const ONE: Fp6 = { c0: fp2.ONE, c1: fp2.ZERO, c2: fp2.ZERO }

export const equal = (a: Fp6, b: Fp6): boolean =>
  fp2.equal(a.c0, b.c0) && fp2.equal(a.c1, b.c1) && fp2.equal(a.c2, b.c2)

export const add = (a: Fp6, b: Fp6): Fp6 => ({
  c0: fp2.add(a.c0, b.c0),
  c1: fp2.add(a.c1, b.c1),
  c2: fp2.add(a.c2, b.c2),
})

export const sub = (a: Fp6, b: Fp6): Fp6 => ({
  c0: fp2.sub(a.c0, b.c0),
  c1: fp2.sub(a.c1, b.c1),
  c2: fp2.sub(a.c2, b.c2),
})

export const neg = (a: Fp6): Fp6 => ({ c0: fp2.neg(a.c0), c1: fp2.neg(a.c1), c2: fp2.neg(a.c2) })

/** Six products instead of nine (Karatsuba). */
export const mul = (a: Fp6, b: Fp6): Fp6 => {
  const t0 = fp2.mul(a.c0, b.c0)
  const t1 = fp2.mul(a.c1, b.c1)
  const t2 = fp2.mul(a.c2, b.c2)
  const t12 = fp2.mul(fp2.add(a.c1, a.c2), fp2.add(b.c1, b.c2))
  const t01 = fp2.mul(fp2.add(a.c0, a.c1), fp2.add(b.c0, b.c1))
  const t02 = fp2.mul(fp2.add(a.c0, a.c2), fp2.add(b.c0, b.c2))
  return {
    c0: fp2.add(t0, fp2.mulByU(fp2.sub(fp2.sub(t12, t1), t2))),
    c1: fp2.add(fp2.sub(fp2.sub(t01, t0), t1), fp2.mulByU(t2)),
    c2: fp2.add(fp2.sub(fp2.sub(t02, t0), t2), t1),
  }
}

/** Times b0 + b1·v, the upper half of every line of the pairing. */
export const mulBy01 = (a: Fp6, b0: Fp2, b1: Fp2): Fp6 => {
  const t0 = fp2.mul(a.c0, b0)
  const t1 = fp2.mul(a.c1, b1)
  const t01 = fp2.mul(fp2.add(a.c0, a.c1), fp2.add(b0, b1))
  return {
    c0: fp2.add(t0, fp2.mulByU(fp2.mul(a.c2, b1))),
    c1: fp2.sub(fp2.sub(t01, t0), t1),
    c2: fp2.add(fp2.mul(a.c2, b0), t1),
  }
}

export const scale = (a: Fp6, by: Fp2): Fp6 => ({
  c0: fp2.mul(a.c0, by),
  c1: fp2.mul(a.c1, by),
  c2: fp2.mul(a.c2, by),
})

/** Times v, the non-residue that makes Fp12. */
export const mulByV = (a: Fp6): Fp6 => ({ c0: fp2.mulByU(a.c2), c1: a.c0, c2: a.c1 })

export const inv = (a: Fp6): Fp6 => {
  const t0 = fp2.sub(fp2.square(a.c0), fp2.mulByU(fp2.mul(a.c1, a.c2)))
  const t1 = fp2.sub(fp2.mulByU(fp2.square(a.c2)), fp2.mul(a.c0, a.c1))
  const t2 = fp2.sub(fp2.square(a.c1), fp2.mul(a.c0, a.c2))
  const cross = fp2.add(fp2.mul(a.c2, t1), fp2.mul(a.c1, t2))
  const norm = fp2.inv(fp2.add(fp2.mul(a.c0, t0), fp2.mulByU(cross)))
  return { c0: fp2.mul(t0, norm), c1: fp2.mul(t1, norm), c2: fp2.mul(t2, norm) }
}
