/** A blinded message, which a client sends: a proof of three scalars and the two points it is about, 288 bytes. */
import { concatBytes } from '@noble/hashes/utils.js'
import type { HashDomain } from './blake2xs.ts'
import { type Bytes, readLittleEndian, refusePoprf, requireLength, split } from './bytes.ts'
import {
  decodeG2,
  encodeG2,
  type G2,
  G2_BYTES,
  G2_GENERATOR,
  readAbscissa,
  sumOfProducts,
} from './curve/points.ts'
import {
  decodeAnyScalar,
  encodeScalar,
  Fr,
  R,
  type RandomBytes,
  randomScalar,
  SCALAR_BITS,
  SCALAR_BYTES,
} from './curve/scalar.ts'
import { tryAndIncrement } from './hash-to-curve.ts'

export const BLINDED_MESSAGE_BYTES = 3 * SCALAR_BYTES + 2 * G2_BYTES

const THING = 'blinded message'
const FIELDS = [SCALAR_BYTES, SCALAR_BYTES, SCALAR_BYTES, G2_BYTES, G2_BYTES]

declare const blindedMessageBrand: unique symbol

/** Bytes that passed `parseBlindedMessage`. An engine still checks what needs the curve. */
export type BlindedMessage = Bytes & { readonly [blindedMessageBrand]: true }

/**
 * Length, canonical numbers and no identity: all that can be checked in microseconds, and more than
 * the published library checks. Passes points off the curve or outside the group, and false proofs.
 */
export const parseBlindedMessage = (bytes: Bytes): BlindedMessage => {
  decodeProof(bytes)
  decodePoints(bytes, readAbscissa)
  return bytes as BlindedMessage
}

/** Refuses every encoding but the one, and a proof that does not hold. */
export const decodeBlindedMessage = (bytes: Bytes): BlindQuery => {
  const proof = decodeProof(bytes)
  const [a, b] = decodePoints(bytes, decodeG2)
  const query = { a, b }
  if (!isRelated(query, proof)) {
    return refusePoprf({
      code: 'POPRF_PROOF_INVALID',
      thing: THING,
      rule: 'must prove that its points blind one message',
    })
  }
  return query
}

export const encodeBlindedMessage = (
  { a, b }: BlindQuery,
  { z, s1, s2 }: RelatedQueryProof,
): BlindedMessage =>
  concatBytes(...[z, s1, s2].map(encodeScalar), encodeG2(a), encodeG2(b)) as BlindedMessage

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

// The proof that both points blind one message: b = a^x · g2^y for an x and a y that the prover
// knows. Without it one request would buy two guesses. Pith, "Proof of related query".

interface RelatedQueryProof {
  readonly z: bigint
  readonly s1: bigint
  readonly s2: bigint
}

/** The message's hash, hidden twice. */
export interface BlindQuery {
  readonly a: G2
  readonly b: G2
}

/** Of exponents x and y with b = a^x · g2^y. */
export const proveRelated = (
  query: BlindQuery,
  x: bigint,
  y: bigint,
  random: RandomBytes,
): RelatedQueryProof => {
  const v1 = randomScalar(random)
  const v2 = randomScalar(random)
  const z = challenge(G2_GENERATOR.multiply(v1).add(query.a.multiply(v2)), query)
  return { z, s1: Fr.sub(v1, Fr.mul(y, z)), s2: Fr.sub(v2, Fr.mul(x, z)) }
}

const isRelated = (query: BlindQuery, { z, s1, s2 }: RelatedQueryProof): boolean => {
  const v = sumOfProducts([G2_GENERATOR, query.a, query.b], [s1, s2, z])
  return !v.is0() && challenge(v, query) === z
}

function challenge(v: G2, { a, b }: BlindQuery): bigint {
  const transcript: Bytes = concatBytes(...[G2_GENERATOR, v, a, b].map(encodeG2))
  return hashToScalar('PoRQH2FF', transcript)
}

const MASK = (1n << BigInt(SCALAR_BITS)) - 1n

/** The challenge of the proof above. */
export const hashToScalar = (domain: HashDomain, message: Bytes): bigint =>
  tryAndIncrement(domain, message, SCALAR_BYTES, (digest) => {
    const value = readLittleEndian(digest) & MASK
    return value < R ? value : undefined
  })
