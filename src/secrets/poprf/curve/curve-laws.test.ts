/** The laws that the arithmetic keeps, and the facts about the curve that its shortcuts rest on. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/counts.ts'
import * as fp from './field.ts'
import * as fp2 from './fp2.ts'
import * as fp6 from './fp6.ts'
import * as fp12 from './fp12.ts'
import { clearCofactor1, G1_GENERATOR, pointAtX1 } from './g1.ts'
import { clearCofactor2, decodeG2, encodeG2, G2_GENERATOR, pointAtX2, sumOfProducts } from './g2.ts'
import { equalGt, GT_ONE, invGt, isInGroup, mulGt, powByX, powGt } from './gt.ts'
import { pair } from './pairing.ts'
import { R } from './scalar.ts'

const base = fc.bigInt({ min: 0n, max: fp.P - 1n })
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
        const root = fp.sqrt(fp.mul(value, value))
        expect(root === value || root === fp.neg(value)).toBe(true)
        if (value !== 0n) expect(fp.sqrt(fp.mul(fp.P - 5n, fp.mul(value, value)))).toBeUndefined()
      }),
      few,
    )
  })

  test('roots in Fp2 too, those of numbers in Fp among them', () => {
    fc.assert(
      fc.property(quadratic, base, (value, real) => {
        const root = fp2.sqrt(fp2.square(value))
        expect(root !== undefined && fp2.equal(fp2.square(root), fp2.square(value))).toBe(true)
        const other = fp2.sqrt({ c0: real, c1: 0n })
        expect(other && fp2.square(other)).toEqual({ c0: real, c1: 0n })
      }),
      few,
    )
  })

  test('u² = −5, v³ = u and w² = v', () => {
    const u = { c0: 0n, c1: 1n }
    expect(fp2.square(u)).toEqual({ c0: fp.P - 5n, c1: 0n })
    expect(fp2.mulByU(u)).toEqual(fp2.square(u))
    const v = { ...fp6.ZERO, c1: fp2.ONE }
    expect(fp6.mul(v, fp6.mul(v, v))).toEqual({ ...fp6.ZERO, c0: u })
    const w = { c0: fp6.ZERO, c1: fp6.ONE }
    expect(fp12.square(w)).toEqual({ c0: v, c1: fp6.ZERO })
  })

  test('multiplication in Fp12 is associative and distributes, and an inverse inverts', () => {
    fc.assert(
      fc.property(dodecic, dodecic, dodecic, (a, b, c) => {
        expect(fp12.mul(a, fp12.mul(b, c))).toEqual(fp12.mul(fp12.mul(a, b), c))
        const sum = { c0: fp6.add(b.c0, c.c0), c1: fp6.add(b.c1, c.c1) }
        const [ab, ac] = [fp12.mul(a, b), fp12.mul(a, c)]
        expect(fp12.mul(a, sum)).toEqual({ c0: fp6.add(ab.c0, ac.c0), c1: fp6.add(ab.c1, ac.c1) })
        expect(fp12.square(a)).toEqual(fp12.mul(a, a))
        expect(fp12.mul(a, fp12.inv(a))).toEqual(fp12.ONE)
      }),
      few,
    )
  })

  test('a line multiplies as the sparse element that it is', () => {
    fc.assert(
      fc.property(dodecic, quadratic, quadratic, quadratic, (a, at0, at1, at3) => {
        const line = {
          c0: { ...fp6.ZERO, c0: at0 },
          c1: { c0: at1, c1: at3, c2: fp2.ZERO },
        }
        expect(fp12.mulByLine(a, at0, at1, at3)).toEqual(fp12.mul(a, line))
      }),
      few,
    )
  })

  test('the Frobenius map is multiplicative, and twelve of it are none', () => {
    fc.assert(
      fc.property(dodecic, dodecic, (a, b) => {
        const once = (value: fp12.Fp12) => fp12.frobenius(value, 1)
        expect(once(fp12.mul(a, b))).toEqual(fp12.mul(once(a), once(b)))
        expect(once(once(a))).toEqual(fp12.frobenius(a, 2))
        expect(once(fp12.frobenius(a, 2))).toEqual(fp12.frobenius(a, 3))
        expect(fp12.frobenius(fp12.frobenius(a, 3), 3)).toEqual(fp12.conjugate(a))
      }),
      few,
    )
  })
})

describe('the curve', () => {
  test('p and r follow from x', () => {
    expect(R).toBe(fp.X ** 4n - fp.X ** 2n + 1n)
    expect(fp.P).toBe(((fp.X - 1n) ** 2n / 3n) * R + fp.X)
  })

  test('the hard part of the final power is the product that the code multiplies out', () => {
    const { P, X } = fp
    expect((3n * (P ** 4n - P ** 2n + 1n)) / R).toBe(
      (X - 1n) ** 2n * (X + P) * (X ** 2n + P ** 2n - 1n) + 3n,
    )
  })

  test('only elements of order r pass the test for GT', () => {
    expect(gcd((fp.P ** 4n - fp.P ** 2n + 1n) / R, (fp.X - 1n) ** 2n / 3n)).toBe(1n)
  })

  test('the generators have order r', () => {
    const nearly = R - 1n
    expect(G1_GENERATOR.multiplyUnsafe(nearly).equals(G1_GENERATOR.negate())).toBe(true)
    expect(G2_GENERATOR.multiplyUnsafe(nearly).equals(G2_GENERATOR.negate())).toBe(true)
  })

  // The points of order 2, 3 and 6, whose multiples the library's addition refuses: no hash finds them.
  const ofSmallOrder = [fp.P - 1n, 0n, 2n]
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
    expect(isInGroup(generator)).toBe(true)
    expect(equalGt(mulGt(powGt(generator, R - 1n), generator), GT_ONE)).toBe(true)
  })

  test('in GT the fast square, the inverse and the power of x are what they claim', () => {
    expect(fp12.cyclotomicSquare(generator)).toEqual(fp12.square(generator))
    expect(equalGt(mulGt(generator, invGt(generator)), GT_ONE)).toBe(true)
    expect(powByX(generator)).toEqual(powGt(generator, fp.X))
  })

  test('what merely lies in Fp12 is not in GT', () => {
    fc.assert(
      fc.property(dodecic, (element) => {
        fc.pre(!equalGt(element, GT_ONE))
        expect(isInGroup(element)).toBe(false)
      }),
      fewer,
    )
    expect(isInGroup(fp12.ZERO)).toBe(false)
  })
})
