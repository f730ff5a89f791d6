/** The laws that the arithmetic keeps, and the facts about the curve that its shortcuts rest on. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/counts.ts'
import { mulFp, negFp, P, sqrtFp, X } from './field.ts'
import { equalFp2, mulByU, ONE_FP2, sqrtFp2, squareFp2, ZERO_FP2 } from './fp2.ts'
import {
  addFp6,
  conjugateFp12,
  cyclotomicSquare,
  type Fp12,
  frobenius,
  invFp12,
  mulByLine,
  mulFp6,
  mulFp12,
  ONE_FP6,
  ONE_FP12,
  squareFp12,
  ZERO_FP6,
  ZERO_FP12,
} from './fp12.ts'
import { equalGt, GT_ONE, invGt, isInGt, mulGt, powByX, powGt } from './gt.ts'
import { pair } from './pairing.ts'
import {
  clearCofactor1,
  clearCofactor2,
  decodeG2,
  encodeG2,
  G1_GENERATOR,
  G2_GENERATOR,
  pointAtX1,
  pointAtX2,
  sumOfProducts,
} from './points.ts'
import { R } from './scalar.ts'

const base = fc.bigInt({ min: 0n, max: P - 1n })
const quadratic = fc.record({ c0: base, c1: base })
const sextic = fc.record({ c0: quadratic, c1: quadratic, c2: quadratic })
const dodecic = fc.record({ c0: sextic, c1: sextic })
const scalar = fc.bigInt({ min: 1n, max: R - 1n })
const few = { numRuns: times(20, 1_000) }
const fewer = { numRuns: times(3, 100) }

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))

describe('fields', () => {
  test('a root squared is its square, and exactly half of all numbers have one', () => {
    fc.assert(
      fc.property(base, (value) => {
        const root = sqrtFp(mulFp(value, value))
        expect(root === value || root === negFp(value)).toBe(true)
        if (value !== 0n) expect(sqrtFp(mulFp(P - 5n, mulFp(value, value)))).toBeUndefined()
      }),
      few,
    )
  })

  test('roots in Fp2 too, those of numbers in Fp among them', () => {
    fc.assert(
      fc.property(quadratic, base, (value, real) => {
        const root = sqrtFp2(squareFp2(value))
        expect(root !== undefined && equalFp2(squareFp2(root), squareFp2(value))).toBe(true)
        const other = sqrtFp2({ c0: real, c1: 0n })
        expect(other && squareFp2(other)).toEqual({ c0: real, c1: 0n })
      }),
      few,
    )
  })

  test('u² = −5, v³ = u and w² = v', () => {
    const u = { c0: 0n, c1: 1n }
    expect(squareFp2(u)).toEqual({ c0: P - 5n, c1: 0n })
    expect(mulByU(u)).toEqual(squareFp2(u))
    const v = { ...ZERO_FP6, c1: ONE_FP2 }
    expect(mulFp6(v, mulFp6(v, v))).toEqual({ ...ZERO_FP6, c0: u })
    const w = { c0: ZERO_FP6, c1: ONE_FP6 }
    expect(squareFp12(w)).toEqual({ c0: v, c1: ZERO_FP6 })
  })

  test('multiplication in Fp12 is associative and distributes, and an inverse inverts', () => {
    fc.assert(
      fc.property(dodecic, dodecic, dodecic, (a, b, c) => {
        expect(mulFp12(a, mulFp12(b, c))).toEqual(mulFp12(mulFp12(a, b), c))
        const sum = { c0: addFp6(b.c0, c.c0), c1: addFp6(b.c1, c.c1) }
        const [ab, ac] = [mulFp12(a, b), mulFp12(a, c)]
        expect(mulFp12(a, sum)).toEqual({ c0: addFp6(ab.c0, ac.c0), c1: addFp6(ab.c1, ac.c1) })
        expect(squareFp12(a)).toEqual(mulFp12(a, a))
        expect(mulFp12(a, invFp12(a))).toEqual(ONE_FP12)
      }),
      few,
    )
  })

  test('a line multiplies as the sparse element that it is', () => {
    fc.assert(
      fc.property(dodecic, quadratic, quadratic, quadratic, (a, at0, at1, at3) => {
        const line = {
          c0: { ...ZERO_FP6, c0: at0 },
          c1: { c0: at1, c1: at3, c2: ZERO_FP2 },
        }
        expect(mulByLine(a, at0, at1, at3)).toEqual(mulFp12(a, line))
      }),
      few,
    )
  })

  test('the Frobenius map is multiplicative, and twelve of it are none', () => {
    fc.assert(
      fc.property(dodecic, dodecic, (a, b) => {
        const once = (value: Fp12) => frobenius(value, 1)
        expect(once(mulFp12(a, b))).toEqual(mulFp12(once(a), once(b)))
        expect(once(once(a))).toEqual(frobenius(a, 2))
        expect(once(frobenius(a, 2))).toEqual(frobenius(a, 3))
        expect(frobenius(frobenius(a, 3), 3)).toEqual(conjugateFp12(a))
      }),
      few,
    )
  })
})

describe('the curve', () => {
  test('p and r follow from x', () => {
    expect(R).toBe(X ** 4n - X ** 2n + 1n)
    expect(P).toBe(((X - 1n) ** 2n / 3n) * R + X)
  })

  test('the hard part of the final power is the product that the code multiplies out', () => {
    expect((3n * (P ** 4n - P ** 2n + 1n)) / R).toBe(
      (X - 1n) ** 2n * (X + P) * (X ** 2n + P ** 2n - 1n) + 3n,
    )
  })

  test('only elements of order r pass the test for GT', () => {
    expect(gcd((P ** 4n - P ** 2n + 1n) / R, (X - 1n) ** 2n / 3n)).toBe(1n)
  })

  test('the generators have order r', () => {
    const nearly = R - 1n
    expect(G1_GENERATOR.multiplyUnsafe(nearly).equals(G1_GENERATOR.negate())).toBe(true)
    expect(G2_GENERATOR.multiplyUnsafe(nearly).equals(G2_GENERATOR.negate())).toBe(true)
  })

  // The points of order 2, 3 and 6, whose multiples the library's addition refuses: no hash finds them.
  const ofSmallOrder = [P - 1n, 0n, 2n]
  const abscissa = base.filter((x) => !ofSmallOrder.includes(x))

  test('a cleared cofactor leads into the group; without it a point is refused', () => {
    fc.assert(
      fc.property(quadratic, abscissa, fc.boolean(), (x2, x1, larger) => {
        const first = pointAtX1(x1, larger)
        if (first !== undefined) {
          const cleared = clearCofactor1(first)
          expect(cleared.multiplyUnsafe(R - 1n).equals(cleared.negate())).toBe(true)
        }
        const second = pointAtX2(x2, larger)
        if (second === undefined) return
        const cleared = clearCofactor2(second)
        expect(decodeG2('point', encodeG2(cleared)).equals(cleared)).toBe(true)
        expect(() => decodeG2('point', encodeG2(second))).toThrow('group of prime order')
      }),
      fewer,
    )
  })

  test('a sum of products is the sum of the products', () => {
    fc.assert(
      fc.property(scalar, scalar, (m, n) => {
        const other = G2_GENERATOR.multiply(3n)
        const sum = sumOfProducts([G2_GENERATOR, other], [m, n])
        expect(sum.equals(G2_GENERATOR.multiply((m + 3n * n) % R || R))).toBe(true)
      }),
      fewer,
    )
  })
})

describe('the pairing', () => {
  const generator = pair(G1_GENERATOR, G2_GENERATOR)

  test('is bilinear: exponents move from either side to the outside', () => {
    fc.assert(
      fc.property(scalar, scalar, (m, n) => {
        const inside = pair(G1_GENERATOR.multiply(m), G2_GENERATOR.multiply(n))
        expect(equalGt(inside, powGt(generator, (m * n) % R))).toBe(true)
      }),
      fewer,
    )
  })

  test('is not degenerate, and lands in the group of order r', () => {
    expect(equalGt(generator, GT_ONE)).toBe(false)
    expect(isInGt(generator)).toBe(true)
    expect(equalGt(mulGt(powGt(generator, R - 1n), generator), GT_ONE)).toBe(true)
  })

  test('in GT the fast square, the inverse and the power of x are what they claim', () => {
    expect(cyclotomicSquare(generator)).toEqual(squareFp12(generator))
    expect(equalGt(mulGt(generator, invGt(generator)), GT_ONE)).toBe(true)
    expect(powByX(generator)).toEqual(powGt(generator, X))
  })

  test('what merely lies in Fp12 is not in GT', () => {
    fc.assert(
      fc.property(dodecic, (element) => {
        fc.pre(!equalGt(element, GT_ONE))
        expect(isInGt(element)).toBe(false)
      }),
      fewer,
    )
    expect(isInGt(ZERO_FP12)).toBe(false)
  })
})
