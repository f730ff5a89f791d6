/** Whether a key is what it says: its secret fits its public key, its share lies on its polynomial. */

import { INDEX_BYTES, PUBLIC_KEY_BYTES } from '../poprf/bounds.ts'
import { equalBytes } from '../poprf/bytes.ts'
import { decodeKeyShare, publicKeyOf } from '../poprf/key-share.ts'
import { sharePublicKey } from '../poprf/polynomial.ts'
import type { SignerKey } from './key.ts'
import { refuseKey } from './key-mistake.ts'

/** Where the constant term stands in an encoded polynomial, after its count. */
const CONSTANT_AT = 8

/** A few multiplications. A key that fails would sign what no client accepts, and use up its quota. */
export const checkKey = <Key extends SignerKey>(thing: string, key: Key): Key => {
  if (fits(key)) return key
  return refuseKey({
    code: 'KEY_INCONSISTENT',
    thing,
    rule: 'must have the public key, and as a share the polynomial, that belong to its secret',
    finding: key.kind === 'share' ? 'others, or another share' : 'another public key',
  })
}

function fits(key: SignerKey): boolean {
  switch (key.kind) {
    case 'single':
      return equalBytes(publicKeyOf(key.secret), key.publicKey)
    case 'share': {
      const { index } = decodeKeyShare(key.secret)
      const own = publicKeyOf(key.secret.subarray(INDEX_BYTES))
      const constant = key.polynomial.subarray(CONSTANT_AT, CONSTANT_AT + PUBLIC_KEY_BYTES)
      const onPolynomial = equalBytes(sharePublicKey(key.polynomial, index), own)
      return onPolynomial && equalBytes(constant, key.publicKey)
    }
    default:
      return key satisfies never
  }
}
