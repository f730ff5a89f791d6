/** The principals whose signatures the validator checks: Ed25519 keys, and nothing else. */

import type { DID, Verifier } from '@ucanto/interface'
import { isSignedBy, keyOfDid } from './ed25519.ts'
import { fingerprintSigned } from './fingerprint.ts'

export interface Verifiers {
  /** For ucanto's option `principal`. An unknown kind of key verifies nothing; it does not throw. */
  parse(did: string): Verifier
  /** The same key under another name. */
  named(did: DID, keyDid: DID<'key'>): Verifier
}

export interface VerifierOptions {
  /** Told of every signature that is really checked. */
  readonly onCheck?: () => void
}

interface SignatureBytes {
  readonly raw: Uint8Array
}

/** Signatures whose worth is known. One takes some 200 bytes; a delegation is used again and again. */
const MAX_REMEMBERED = 10_000

export const createVerifiers = ({ onCheck = () => {} }: VerifierOptions = {}): Verifiers => {
  // By key, signature and what was signed: what is true of all three is true for ever.
  const known = new Map<string, boolean>()

  const check = (did: string, payload: Uint8Array, signature: SignatureBytes): boolean => {
    const bytes = Buffer.from(signature.raw).toString('base64')
    const name = `${did} ${fingerprintSigned(signature, payload)} ${bytes}`
    const before = known.get(name)
    if (before !== undefined) return before
    const key = keyOfDid(did)
    if (key === undefined) return false
    onCheck()
    const isGood = isSignedBy(key, payload, signature.raw)
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(name, isGood)
    return isGood
  }

  const named = (did: DID, keyDid: DID<'key'>): Verifier => ({
    did: () => did,
    toDIDKey: () => keyDid,
    verify: (payload, signature) => signature.code === ED_DSA && check(keyDid, payload, signature),
    withDID: <ID extends DID>(other: ID): Verifier<ID> => ({
      ...named(did, keyDid),
      did: () => other,
      withDID: (id) => named(did, keyDid).withDID(id),
    }),
  })

  return {
    named,
    parse: (did) => (isKeyDid(did) ? named(did, did) : named('did:unknown:', 'did:key:')),
  }
}

/** The code of EdDSA among the signatures of UCAN. */
const ED_DSA = 0xd0ed

export const isDid = (text: string): text is DID => /^did:[a-z0-9]+:./.test(text)
export const isKeyDid = (text: string): text is DID<'key'> => text.startsWith('did:key:')
