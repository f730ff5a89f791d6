/** The client's first step: hide a message so that the service cannot tell it. Pith, "POPRF.Req". */
import { randomBytes } from '@noble/hashes/utils.js'
import { encodeBlindedMessage } from './blinded-message.ts'
import { BLINDING_FACTOR_BYTES, requireMessage } from './bounds.ts'
import { type Bytes, concat, requireLength, split } from './bytes.ts'
import { G2_GENERATOR } from './curve/g2.ts'
import {
  decodeScalar,
  encodeScalar,
  Fr,
  type RandomBytes,
  randomScalar,
  SCALAR_BYTES,
} from './curve/scalar.ts'
import { hashToG2 } from './hash-to-curve.ts'
import { proveRelated, type Query } from './related-query.ts'

export interface Blinding {
  /** For the service. */
  readonly blindedMessage: Bytes
  /** For `unblind`. Whoever has it and the blinded message can test guesses at the message. */
  readonly blindingFactor: Bytes
}

/** The exponents of a = h^r and b = h^c · g2^d, with h the message hashed to G2. */
export interface Factor {
  readonly r: bigint
  readonly c: bigint
  readonly d: bigint
}

/** Two blindings of one message have nothing in common, unless `random` repeats itself. */
export const blind = (message: Bytes, random: RandomBytes = randomBytes): Blinding => {
  const factor = { r: randomScalar(random), c: randomScalar(random), d: randomScalar(random) }
  const query = hide(message, factor)
  const proof = proveRelated(query, Fr.div(factor.c, factor.r), factor.d, random)
  return {
    blindedMessage: encodeBlindedMessage(query, proof),
    blindingFactor: concat(...[factor.r, factor.c, factor.d].map(encodeScalar)),
  }
}

export const hide = (message: Bytes, { r, c, d }: Factor): Query => {
  const h = hashToG2(requireMessage(message))
  return { a: h.multiply(r), b: h.multiply(c).add(G2_GENERATOR.multiply(d)) }
}

export const decodeFactor = (bytes: Bytes): Factor => {
  const thing = 'blinding factor'
  requireLength(thing, bytes, BLINDING_FACTOR_BYTES)
  const [r = bytes, c = bytes, d = bytes] = split(bytes, SCALAR_BYTES, SCALAR_BYTES, SCALAR_BYTES)
  return { r: decodeScalar(thing, r), c: decodeScalar(thing, c), d: decodeScalar(thing, d) }
}
