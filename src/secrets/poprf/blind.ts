/** The client's two steps: blind a message, then verify and unblind the response. Pith, "POPRF.Req" and "POPRF.Finalize". */
import { concatBytes, randomBytes } from '@noble/hashes/utils.js'
import {
  type BlindedMessage,
  type BlindQuery,
  encodeBlindedMessage,
  proveRelated,
} from './blinded-message.ts'
import {
  type Bytes,
  refusePoprf,
  requireLength,
  requireMessage,
  requireTag,
  split,
} from './bytes.ts'
import { equalGt, type Gt, mulGt, powGt } from './curve/gt.ts'
import { pair } from './curve/pairing.ts'
import { decodeG2, type G2, G2_GENERATOR } from './curve/points.ts'
import {
  decodeScalar,
  encodeScalar,
  Fr,
  type RandomBytes,
  randomScalar,
  SCALAR_BYTES,
} from './curve/scalar.ts'
import { output } from './evaluate.ts'
import { hashToG1, hashToG2 } from './hash-to-curve.ts'
import { decodePolynomial, publicShareAt } from './key-share.ts'
import {
  type BlindResponse,
  decodePartialResponse,
  decodeResponse,
  encodePartialEvaluation,
} from './response.ts'

export const BLINDING_FACTOR_BYTES = 3 * SCALAR_BYTES

export interface Blinding {
  /** For the service. */
  readonly blindedMessage: BlindedMessage
  /** For `unblind`. Keep it secret: with the blinded message it lets anyone test guesses at the message. */
  readonly blindingFactor: Bytes
}

/** The exponents of a = h^r and b = h^c · g2^d, with h the message hashed to G2. */
interface BlindingExponents {
  readonly r: bigint
  readonly c: bigint
  readonly d: bigint
}

/**
 * Two blindings of one message have nothing in common, unless `random` repeats itself.
 *
 * @example
 * import { blind, evaluate, generatePrivateKey, publicKeyOf, unblind } from 'headgate/poprf'
 *
 * const key = generatePrivateKey()
 * const tag = new TextEncoder().encode('a domain')
 * const { blindedMessage, blindingFactor } = blind(new TextEncoder().encode('123456'))
 * const response = evaluate(key, tag, blindedMessage)
 * console.log(unblind(publicKeyOf(key), { blindingFactor, tag, response }).length)
 */
export const blind = (message: Bytes, random: RandomBytes = randomBytes): Blinding => {
  const factor = { r: randomScalar(random), c: randomScalar(random), d: randomScalar(random) }
  const query = hide(message, factor)
  const proof = proveRelated(query, Fr.div(factor.c, factor.r), factor.d, random)
  return {
    blindedMessage: encodeBlindedMessage(query, proof),
    blindingFactor: concatBytes(...[factor.r, factor.c, factor.d].map(encodeScalar)),
  }
}

export const hide = (message: Bytes, { r, c, d }: BlindingExponents): BlindQuery => {
  const h = hashToG2(requireMessage(message))
  return { a: h.multiply(r), b: h.multiply(c).add(G2_GENERATOR.multiply(d)) }
}

export const decodeFactor = (bytes: Bytes): BlindingExponents => {
  const thing = 'blinding factor'
  requireLength(thing, bytes, BLINDING_FACTOR_BYTES)
  const [r = bytes, c = bytes, d = bytes] = split(bytes, SCALAR_BYTES, SCALAR_BYTES, SCALAR_BYTES)
  return { r: decodeScalar(thing, r), c: decodeScalar(thing, c), d: decodeScalar(thing, d) }
}

/** What `unblind` needs beside a public key. */
export interface Unblinding {
  readonly blindingFactor: Bytes
  readonly tag: Bytes
  readonly response: Bytes
}

/** The output of 32 bytes. Refuses a response to another key, tag or message. */
export const unblind = (publicKey: Bytes, { blindingFactor, tag, response }: Unblinding): Bytes => {
  const key = decodeG2('public key', publicKey)
  return output(uncover(key, decodeFactor(blindingFactor), tag, decodeResponse(response)))
}

/** One signer's part, verified by itself: 580 bytes for `aggregatePlain`. */
export const unblindPartial = (
  polynomial: Bytes,
  { blindingFactor, tag, response }: Unblinding,
): Bytes => {
  const { index, value } = decodePartialResponse(response)
  const key = publicShareAt(decodePolynomial(polynomial), index)
  const evaluation = uncover(key, decodeFactor(blindingFactor), tag, value)
  return encodePartialEvaluation({ index, value: evaluation })
}

/** Accepts iff A^(1/r) = B^(1/c) · e(H1(tag), key^(−d/c)), and returns either side. */
function uncover(key: G2, { r, c, d }: BlindingExponents, tag: Bytes, { a, b }: BlindResponse): Gt {
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
