/**
 * The proof that both halves of a blinded message ask the same question: b = a^x · g2^y for an x and
 * a y that the prover knows. Without it one query buys two guesses. Pith, "Proof of related query".
 */
import { type Bytes, concat } from './bytes.ts'
import { encodeG2, type G2, G2_GENERATOR, sumOfProducts } from './curve/g2.ts'
import { Fr, type RandomBytes, randomScalar } from './curve/scalar.ts'
import { hashToScalar } from './hash-to-scalar.ts'

export interface RelatedQueryProof {
  readonly z: bigint
  readonly s1: bigint
  readonly s2: bigint
}

export interface Query {
  readonly a: G2
  readonly b: G2
}

/** Of exponents x and y with b = a^x · g2^y. */
export const proveRelated = (
  query: Query,
  x: bigint,
  y: bigint,
  random: RandomBytes,
): RelatedQueryProof => {
  const v1 = randomScalar(random)
  const v2 = randomScalar(random)
  const z = challenge(G2_GENERATOR.multiply(v1).add(query.a.multiply(v2)), query)
  return { z, s1: Fr.sub(v1, Fr.mul(y, z)), s2: Fr.sub(v2, Fr.mul(x, z)) }
}

export const isRelated = (query: Query, { z, s1, s2 }: RelatedQueryProof): boolean => {
  const v = sumOfProducts([G2_GENERATOR, query.a, query.b], [s1, s2, z])
  return !v.is0() && challenge(v, query) === z
}

function challenge(v: G2, { a, b }: Query): bigint {
  const transcript: Bytes = concat(...[G2_GENERATOR, v, a, b].map(encodeG2))
  return hashToScalar('PoRQH2FF', transcript)
}
