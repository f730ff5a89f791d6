/** The service's step: e(H1(tag)^key, ·) of both points of a blinded message. Pith, "POPRF.BlindEv". */

import { blake2xs } from './blake2xs.ts'
import { decodeBlindedMessage } from './blinded-message.ts'
import { type Bytes, requireMessage, requireTag } from './bytes.ts'
import { encodeGt, type Gt } from './curve/gt.ts'
import { pair } from './curve/pairing.ts'
import { hashToG1, hashToG2 } from './hash-to-curve.ts'
import { decodeKeyShare, decodePrivateKey } from './key-share.ts'
import {
  type BlindResponse,
  encodePartialEvaluation,
  encodePartialResponse,
  encodeResponse,
} from './response.ts'

export const OUTPUT_BYTES = 32

/** With the whole key: 1152 bytes, which a client unblinds against the public key. */
export const evaluate = (privateKey: Bytes, tag: Bytes, blindedMessage: Bytes): Bytes =>
  encodeResponse(respond(decodePrivateKey(privateKey), tag, blindedMessage))

/** With a share: 1156 bytes, of which a threshold makes what the whole key would have answered. */
export const evaluatePartial = (share: Bytes, tag: Bytes, blindedMessage: Bytes): Bytes => {
  const { index, scalar } = decodeKeyShare(share)
  return encodePartialResponse({ index, value: respond(scalar, tag, blindedMessage) })
}

/** Without blinding: the output of 32 bytes itself. For who knows both key and message. */
export const evaluatePlain = (privateKey: Bytes, tag: Bytes, message: Bytes): Bytes =>
  output(reveal(decodePrivateKey(privateKey), tag, message))

/** Without blinding and with a share: 580 bytes, for `aggregatePlain`. */
export const evaluatePlainPartial = (share: Bytes, tag: Bytes, message: Bytes): Bytes => {
  const { index, scalar } = decodeKeyShare(share)
  return encodePartialEvaluation({ index, value: reveal(scalar, tag, message) })
}

/** An evaluation as the bytes that users get. */
export const output = (evaluation: Gt): Bytes =>
  blake2xs('PRFEVALH', encodeGt(evaluation), OUTPUT_BYTES)

function respond(key: bigint, tag: Bytes, blindedMessage: Bytes): BlindResponse {
  const { a, b } = decodeBlindedMessage(blindedMessage)
  // Never leaves this function: with it anyone could evaluate the tag without asking again.
  const base = hashToG1(requireTag(tag)).multiply(key)
  return { a: pair(base, a), b: pair(base, b) }
}

const reveal = (key: bigint, tag: Bytes, message: Bytes): Gt =>
  pair(hashToG1(requireTag(tag)).multiply(key), hashToG2(requireMessage(message)))
