/** How much the suite takes at once, and how long its encodings are. */
import type { Bytes } from './bytes.ts'
import { G2_BYTES } from './curve/g2.ts'
import { GT_BYTES } from './curve/gt.ts'
import { SCALAR_BYTES } from './curve/scalar.ts'
import { refusePoprf } from './poprf-mistake.ts'

/** A tag is a hash of 32 bytes; the vectors use short texts. More only grows the evaluator's memory. */
export const MAX_TAG_BYTES = 1_024

/** A password or a PIN, with room for a passphrase of many pages. */
export const MAX_MESSAGE_BYTES = 65_536

/** More signers than this hold no ceremony; aggregation costs two powers for each. */
export const MAX_THRESHOLD = 255

export const INDEX_BYTES = 4
export const PRIVATE_KEY_BYTES = SCALAR_BYTES
export const PUBLIC_KEY_BYTES = G2_BYTES
export const KEY_SHARE_BYTES = INDEX_BYTES + SCALAR_BYTES
export const BLINDED_MESSAGE_BYTES = 3 * SCALAR_BYTES + 2 * G2_BYTES
export const BLINDING_FACTOR_BYTES = 3 * SCALAR_BYTES
export const RESPONSE_BYTES = 2 * GT_BYTES
export const PARTIAL_RESPONSE_BYTES = INDEX_BYTES + RESPONSE_BYTES
export const PARTIAL_EVALUATION_BYTES = INDEX_BYTES + GT_BYTES
export const OUTPUT_BYTES = 32

export const requireTag = (tag: Bytes): Bytes =>
  tag.length <= MAX_TAG_BYTES ? tag : tooLong('POPRF_TAG_TOO_LONG', 'tag', MAX_TAG_BYTES, tag)

export const requireMessage = (message: Bytes): Bytes =>
  message.length <= MAX_MESSAGE_BYTES
    ? message
    : tooLong('POPRF_MESSAGE_TOO_LONG', 'message', MAX_MESSAGE_BYTES, message)

function tooLong(
  code: 'POPRF_TAG_TOO_LONG' | 'POPRF_MESSAGE_TOO_LONG',
  thing: string,
  most: number,
  bytes: Bytes,
): never {
  const rule = `must be at most ${most} bytes`
  return refusePoprf({ code, thing, rule, finding: `${bytes.length} bytes` })
}
