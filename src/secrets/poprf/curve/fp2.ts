/** Fp2 = Fp[u] / (u² + 5): where the twist's coordinates live. */
import * as fp from './field.ts'

export interface Fp2 {
  readonly c0: bigint
  readonly c1: bigint
}

export const ZERO: Fp2 = { c0: 0n, c1: 0n }
export const ONE: Fp2 = { c0: 1n, c1: 0n }

/** −u² as a number. */
const BETA = 5n
const INVERSE_OF_MINUS_BETA = fp.inv(fp.P - BETA)

export const isZero = (a: Fp2): boolean => a.c0 === 0n && a.c1 === 0n
export const equal = (a: Fp2, b: Fp2): boolean => a.c0 === b.c0 && a.c1 === b.c1

export const add = (a: Fp2, b: Fp2): Fp2 => ({ c0: fp.add(a.c0, b.c0), c1: fp.add(a.c1, b.c1) })
export const sub = (a: Fp2, b: Fp2): Fp2 => ({ c0: fp.sub(a.c0, b.c0), c1: fp.sub(a.c1, b.c1) })
export const neg = (a: Fp2): Fp2 => ({ c0: fp.neg(a.c0), c1: fp.neg(a.c1) })
export const double = (a: Fp2): Fp2 => add(a, a)

/** Also the Frobenius map: u^p = −u. */
export const conjugate = (a: Fp2): Fp2 => ({ c0: a.c0, c1: fp.neg(a.c1) })

/** Three products (Karatsuba) and two reductions: in between, sums stay unreduced. */
export const mul = (a: Fp2, b: Fp2): Fp2 => {
  const low = a.c0 * b.c0
  const high = a.c1 * b.c1
  const cross = (a.c0 + a.c1) * (b.c0 + b.c1) - low - high
  return { c0: fp.reduce(low - BETA * high), c1: cross % fp.P }
}

export const square = (a: Fp2): Fp2 => ({
  c0: fp.reduce(a.c0 * a.c0 - BETA * a.c1 * a.c1),
  c1: (2n * a.c0 * a.c1) % fp.P,
})

export const scale = (a: Fp2, by: bigint): Fp2 => ({ c0: fp.mul(a.c0, by), c1: fp.mul(a.c1, by) })

/** Times u, the non-residue that makes Fp6. */
export const mulByU = (a: Fp2): Fp2 => ({ c0: fp.reduce(-BETA * a.c1), c1: a.c0 })

export const inv = (a: Fp2): Fp2 => {
  const norm = fp.inv(fp.reduce(a.c0 * a.c0 + BETA * a.c1 * a.c1))
  return { c0: fp.mul(a.c0, norm), c1: fp.mul(fp.neg(a.c1), norm) }
}

export const pow = (base: Fp2, exponent: bigint): Fp2 => {
  let result = ONE
  for (const bit of exponent.toString(2)) {
    result = square(result)
    if (bit === '1') result = mul(result, base)
  }
  return result
}

/** By way of the norm; undefined for what is no square. */
export const sqrt = (a: Fp2): Fp2 | undefined => {
  if (a.c1 === 0n) return sqrtOfBase(a.c0)
  const norm = fp.sqrt(fp.reduce(a.c0 * a.c0 + BETA * a.c1 * a.c1))
  if (norm === undefined) return undefined
  const c0 = fp.sqrt(fp.half(fp.add(a.c0, norm))) ?? fp.sqrt(fp.half(fp.sub(a.c0, norm)))
  if (c0 === undefined) return undefined
  const root = { c0, c1: fp.mul(a.c1, fp.inv(fp.add(c0, c0))) }
  return equal(square(root), a) ? root : undefined
}

/** Which of y and −y a compressed point means: u's coefficient decides, unless it is 0. */
export const isLarger = (y: Fp2): boolean => fp.isLarger(y.c1 === 0n ? y.c0 : y.c1)

/** Every element of Fp has a root in Fp2: its own, or u times that of a/−5. */
function sqrtOfBase(value: bigint): Fp2 | undefined {
  const root = fp.sqrt(value)
  if (root !== undefined) return { c0: root, c1: 0n }
  const c1 = fp.sqrt(fp.mul(value, INVERSE_OF_MINUS_BETA))
  return c1 === undefined ? undefined : { c0: 0n, c1 }
}
