/**
 * The optimal ate pairing e: G1 × G2 → GT of BLS12-377, raised to the third power as in arkworks 0.3.
 * Steps of the loop by Costello, Lange and Naehrig, eprint 2009/615.
 */
import { X } from './field.ts'
import * as fp2 from './fp2.ts'
import * as fp12 from './fp12.ts'
import type { G1 } from './g1.ts'
import { type G2, TWIST_B } from './g2.ts'
import { type Gt, invGt, mulGt, powByX } from './gt.ts'

type Fp2 = fp2.Fp2

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
const THREE_B = fp2.scale(TWIST_B, 3n)

function millerLoop(p: G1, q: G2): fp12.Fp12 {
  const at = p.toAffine()
  const start = q.toAffine()
  let running: Running = { ...start, z: fp2.ONE }
  let value = fp12.ONE
  const take = ([next, line]: readonly [Running, Line]): void => {
    value = fp12.mulByLine(value, fp2.scale(line.y, at.y), fp2.scale(line.x, at.x), line.one)
    running = next
  }
  for (const bit of LOOP) {
    value = fp12.square(value)
    take(doubleStep(running))
    if (bit === '1') take(addStep(running, start))
  }
  return value
}

/** Lines are scaled by elements of Fp2, which the final power makes 1. */
function doubleStep({ x, y, z }: Running): readonly [Running, Line] {
  const yy = fp2.square(y)
  const zz = fp2.square(z)
  const e = fp2.mul(THREE_B, zz)
  const f = fp2.add(fp2.double(e), e)
  const yz2 = fp2.sub(fp2.sub(fp2.square(fp2.add(y, z)), yy), zz)
  const xx = fp2.square(x)
  const ee = fp2.square(e)
  const next = {
    x: fp2.mul(fp2.double(fp2.mul(x, y)), fp2.sub(yy, f)),
    y: fp2.sub(fp2.square(fp2.add(yy, f)), fp2.scale(ee, 12n)),
    z: fp2.scale(fp2.mul(yy, yz2), 4n),
  }
  return [next, { y: yz2, x: fp2.neg(fp2.add(fp2.double(xx), xx)), one: fp2.sub(yy, e) }]
}

function addStep(
  { x, y, z }: Running,
  q: { readonly x: Fp2; readonly y: Fp2 },
): readonly [Running, Line] {
  const theta = fp2.sub(y, fp2.mul(q.y, z))
  const lambda = fp2.sub(x, fp2.mul(q.x, z))
  const d = fp2.square(lambda)
  const e = fp2.mul(lambda, d)
  const g = fp2.mul(x, d)
  const h = fp2.sub(fp2.add(e, fp2.mul(z, fp2.square(theta))), fp2.double(g))
  const next = {
    x: fp2.mul(lambda, h),
    y: fp2.sub(fp2.mul(theta, fp2.sub(g, h)), fp2.mul(e, y)),
    z: fp2.mul(z, e),
  }
  const one = fp2.sub(fp2.mul(theta, q.x), fp2.mul(lambda, q.y))
  return [next, { y: lambda, x: fp2.neg(theta), one }]
}

/**
 * To the power 3(p¹² − 1)/r. Its hard part is 3(p⁴ − p² + 1)/r = (x − 1)²(x + p)(x² + p² − 1) + 3
 * (Hayashida, Hayasaka and Teruya, eprint 2020/875). The 3 is harmless, and the wire depends on it.
 */
function finalPower(value: fp12.Fp12): Gt {
  const unitary = mulGt(fp12.conjugate(value), fp12.inv(value))
  const base = mulGt(fp12.frobenius(unitary, 2), unitary)
  const once = mulGt(powByX(base), invGt(base))
  const twice = mulGt(powByX(once), invGt(once))
  const third = mulGt(powByX(twice), fp12.frobenius(twice, 1))
  const fourth = mulGt(mulGt(powByX(powByX(third)), fp12.frobenius(third, 2)), invGt(third))
  return mulGt(fourth, mulGt(fp12.cyclotomicSquare(base), base))
}
