/**
 * What identifies a token: the hash of the text that its signature covers.
 *
 * A CID does not. Whoever holds a token can write it down differently (as a JWT, with an unsigned
 * field more, with an empty nonce), give that an honest CID, and still have a valid signature. So
 * revocations and receipts go by the fingerprint.
 */
import { hash } from 'node:crypto'
import type { UCAN } from '@ucanto/interface'

// By the signature's object. Writing the text costs as much as the rest of a token's decoding, and the
// validator writes it anyway.
const known = new WeakMap<object, string>()

/** Called where the validator shows what a signature covers. */
export const fingerprintSigned = (signature: object, signed: Uint8Array): string => {
  const before = known.get(signature)
  if (before !== undefined) return before
  const fingerprint = hash('sha256', signed, 'base64url')
  known.set(signature, fingerprint)
  return fingerprint
}

export const fingerprintOf = (token: UCAN.View): string => {
  const before = known.get(token.signature)
  if (before !== undefined) return before
  const text = token.format()
  return fingerprintSigned(token.signature, Buffer.from(text.slice(0, text.lastIndexOf('.'))))
}
