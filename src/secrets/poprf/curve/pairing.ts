/**
 * The optimal ate pairing e: G1 × G2 → GT of BLS12-377, raised to the third power as in arkworks 0.3.
 * Steps of the loop by Costello, Lange and Naehrig, eprint 2009/615.
 */

import { X } from './field.ts'
import {
  addFp2,
  doubleFp2,
  type Fp2,
  mulFp2,
  negFp2,
  ONE_FP2,
  scaleFp2,
  squareFp2,
  subFp2,
} from './fp2.ts'
import {
  conjugateFp12,
  cyclotomicSquare,
  type Fp12,
  frobenius,
  invFp12,
  mulByLine,
  ONE_FP12,
  squareFp12,
} from './fp12.ts'
import { type Gt, invGt, mulGt, powByX } from './gt.ts'
import { type G1, type G2, TWIST_B } from './points.ts'

/** Neither point may be the identity: decoding and hashing never give it. */
export const pair = (p: G1, q: G2): Gt => finalPower(millerLoop(p, q))

/** A point of the twist in homogeneous coordinates. */
interface Running {
  readonly x: Fp2
  readonly y: Fp2
  readonly z: Fp2
}

/** A line through points of the twist, before it is evaluated: coefficients of y, −x and 1. */
interface Line {
  readonly y: Fp2
  readonly x: Fp2
  readonly one: Fp2
}

const LOOP = [...X.toString(2).slice(1)]
const THREE_B = scaleFp2(TWIST_B, 3n)

function millerLoop(p: G1, q: G2): Fp12 {
  const at = p.toAffine()
  const start = q.toAffine()
  let running: Running = { ...start, z: ONE_FP2 }
  let value = ONE_FP12
  const take = ([next, line]: readonly [Running, Line]): void => {
    value = mulByLine(value, scaleFp2(line.y, at.y), scaleFp2(line.x, at.x), line.one)
    running = next
  }
  for (const bit of LOOP) {
    value = squareFp12(value)
    take(doubleStep(running))
    if (bit === '1') take(addStep(running, start))
  }
  return value
}

/** Lines are scaled by elements of Fp2, which the final power makes 1. */
function doubleStep({ x, y, z }: Running): readonly [Running, Line] {
  const yy = squareFp2(y)
  const zz = squareFp2(z)
  const e = mulFp2(THREE_B, zz)
  const f = addFp2(doubleFp2(e), e)
  const yz2 = subFp2(subFp2(squareFp2(addFp2(y, z)), yy), zz)
  const xx = squareFp2(x)
  const ee = squareFp2(e)
  const next = {
    x: mulFp2(doubleFp2(mulFp2(x, y)), subFp2(yy, f)),
    y: subFp2(squareFp2(addFp2(yy, f)), scaleFp2(ee, 12n)),
    z: scaleFp2(mulFp2(yy, yz2), 4n),
  }
  return [next, { y: yz2, x: negFp2(addFp2(doubleFp2(xx), xx)), one: subFp2(yy, e) }]
}

function addStep(
  { x, y, z }: Running,
  q: { readonly x: Fp2; readonly y: Fp2 },
): readonly [Running, Line] {
  const theta = subFp2(y, mulFp2(q.y, z))
  const lambda = subFp2(x, mulFp2(q.x, z))
  const d = squareFp2(lambda)
  const e = mulFp2(lambda, d)
  const g = mulFp2(x, d)
  const h = subFp2(addFp2(e, mulFp2(z, squareFp2(theta))), doubleFp2(g))
  const next = {
    x: mulFp2(lambda, h),
    y: subFp2(mulFp2(theta, subFp2(g, h)), mulFp2(e, y)),
    z: mulFp2(z, e),
  }
  const one = subFp2(mulFp2(theta, q.x), mulFp2(lambda, q.y))
  return [next, { y: lambda, x: negFp2(theta), one }]
}

/**
 * To the power 3(p¹² − 1)/r. Its hard part is 3(p⁴ − p² + 1)/r = (x − 1)²(x + p)(x² + p² − 1) + 3
 * (Hayashida, Hayasaka and Teruya, eprint 2020/875). The 3 is harmless, and the wire depends on it.
 */
function finalPower(value: Fp12): Gt {
  const unitary = mulGt(conjugateFp12(value), invFp12(value))
  const base = mulGt(frobenius(unitary, 2), unitary)
  const once = mulGt(powByX(base), invGt(base))
  const twice = mulGt(powByX(once), invGt(once))
  const third = mulGt(powByX(twice), frobenius(twice, 1))
  const fourth = mulGt(mulGt(powByX(powByX(third)), frobenius(third, 2)), invGt(third))
  return mulGt(fourth, mulGt(cyclotomicSquare(base), base))
}
