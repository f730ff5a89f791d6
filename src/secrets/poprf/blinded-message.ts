/** What a client sends: a proof of three scalars and the two points it is about, 288 bytes. */
import { BLINDED_MESSAGE_BYTES } from './bounds.ts'
import { type Bytes, concat, requireLength, split } from './bytes.ts'
import { decodeG2, encodeG2, G2_BYTES, readAbscissa } from './curve/g2.ts'
import { decodeAnyScalar, encodeScalar, SCALAR_BYTES } from './curve/scalar.ts'
import { refusePoprf } from './poprf-mistake.ts'
import { isRelated, type Query, type RelatedQueryProof } from './related-query.ts'

const THING = 'blinded message'
const FIELDS = [SCALAR_BYTES, SCALAR_BYTES, SCALAR_BYTES, G2_BYTES, G2_BYTES]

/** Refuses every encoding but the one, and a proof that does not hold. */
export const decodeBlindedMessage = (bytes: Bytes): Query => {
  const proof = decodeProof(bytes)
  const [a, b] = decodePoints(bytes, decodeG2)
  const query = { a, b }
  if (!isRelated(query, proof)) {
    return refusePoprf({
      code: 'POPRF_PROOF_INVALID',
      thing: THING,
      rule: 'must prove that its points ask one question',
    })
  }
  return query
}

/**
 * Length, canonical numbers and no identity: what can be said in microseconds. Passes points that
 * are off the curve or outside the group, and proofs that do not hold.
 */
export const checkBlindedMessage = (bytes: Bytes): Bytes => {
  decodeProof(bytes)
  decodePoints(bytes, readAbscissa)
  return bytes
}

export const encodeBlindedMessage = ({ a, b }: Query, { z, s1, s2 }: RelatedQueryProof): Bytes =>
  concat(...[z, s1, s2].map(encodeScalar), encodeG2(a), encodeG2(b))

function decodeProof(bytes: Bytes): RelatedQueryProof {
  const [z, s1, s2] = fields(bytes)
  return {
    z: decodeAnyScalar(`${THING}, challenge`, z),
    s1: decodeAnyScalar(`${THING}, first response`, s1),
    s2: decodeAnyScalar(`${THING}, second response`, s2),
  }
}

function decodePoints<T>(
  bytes: Bytes,
  decode: (thing: string, bytes: Bytes) => T,
): readonly [T, T] {
  const [, , , a, b] = fields(bytes)
  return [decode(`${THING}, first point`, a), decode(`${THING}, second point`, b)]
}

function fields(bytes: Bytes): readonly [Bytes, Bytes, Bytes, Bytes, Bytes] {
  const none = bytes.subarray(0, 0)
  const cut = split(requireLength(THING, bytes, BLINDED_MESSAGE_BYTES), ...FIELDS)
  const [z = none, s1 = none, s2 = none, a = none, b = none] = cut
  return [z, s1, s2, a, b]
}
