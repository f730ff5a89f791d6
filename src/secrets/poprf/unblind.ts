/** The client's second step: verify an answer and uncover it. Pith, "POPRF.Finalize". */
import { decodeFactor, type Factor } from './blind.ts'
import { requireTag } from './bounds.ts'
import type { Bytes } from './bytes.ts'
import { decodeG2, type G2 } from './curve/g2.ts'
import { equalGt, type Gt, mulGt, powGt } from './curve/gt.ts'
import { pair } from './curve/pairing.ts'
import { Fr } from './curve/scalar.ts'
import { output } from './evaluate.ts'
import { hashToG1 } from './hash-to-curve.ts'
import { decodePolynomial, publicShareAt } from './polynomial.ts'
import { refusePoprf } from './poprf-mistake.ts'
import {
  decodePartialResponse,
  decodeResponse,
  encodePartialEvaluation,
  type Response,
} from './response.ts'

export interface Answer {
  readonly blindingFactor: Bytes
  readonly tag: Bytes
  readonly response: Bytes
}

/** The output of 32 bytes. Refuses an answer that another key, tag or message gave. */
export const unblind = (publicKey: Bytes, { blindingFactor, tag, response }: Answer): Bytes => {
  const key = decodeG2('public key', publicKey)
  return output(uncover(key, decodeFactor(blindingFactor), tag, decodeResponse(response)))
}

/** One signer's part, verified on its own: 580 bytes for `aggregatePlain`. */
export const unblindPartial = (
  polynomial: Bytes,
  { blindingFactor, tag, response }: Answer,
): Bytes => {
  const { index, value } = decodePartialResponse(response)
  const key = publicShareAt(decodePolynomial(polynomial), index)
  const evaluation = uncover(key, decodeFactor(blindingFactor), tag, value)
  return encodePartialEvaluation({ index, value: evaluation })
}

/** Accepts iff A^(1/r) = B^(1/c) · e(H1(tag), key^(−d/c)), and returns either side. */
function uncover(key: G2, { r, c, d }: Factor, tag: Bytes, { a, b }: Response): Gt {
  const overC = Fr.inv(c)
  const fromA = powGt(a, Fr.inv(r))
  const correction = pair(hashToG1(requireTag(tag)), key.multiply(Fr.neg(Fr.mul(d, overC))))
  if (equalGt(fromA, mulGt(powGt(b, overC), correction))) return fromA
  return refusePoprf({
    code: 'POPRF_UNVERIFIED',
    thing: 'response',
    rule: 'must be the evaluation of this tag and message under the public key',
  })
}
