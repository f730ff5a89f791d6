/** A private key, or one signer's share of it, as bytes. */
import { INDEX_BYTES, KEY_SHARE_BYTES } from './bounds.ts'
import { type Bytes, concat, requireLength, split } from './bytes.ts'
import { encodeG2, G2_GENERATOR } from './curve/g2.ts'
import { decodeScalar, encodeScalar, SCALAR_BYTES } from './curve/scalar.ts'
import { decodeIndex, encodeIndex, requireIndex } from './share-index.ts'

export interface KeyShare {
  readonly index: number
  readonly scalar: bigint
}

export const decodePrivateKey = (bytes: Bytes): bigint => decodeScalar('private key', bytes)

export const decodeKeyShare = (bytes: Bytes): KeyShare => {
  const thing = 'key share'
  requireLength(thing, bytes, KEY_SHARE_BYTES)
  const [index = bytes, scalar = bytes] = split(bytes, INDEX_BYTES, SCALAR_BYTES)
  return { index: decodeIndex(thing, index), scalar: decodeScalar(thing, scalar) }
}

export const encodeKeyShare = ({ index, scalar }: KeyShare): Bytes =>
  concat(encodeIndex(requireIndex('key share', index)), encodeScalar(scalar))

/** g2 to the power of the key: what answers are verified against. */
export const publicKeyOf = (privateKey: Bytes): Bytes =>
  encodeG2(G2_GENERATOR.multiply(decodePrivateKey(privateKey)))
