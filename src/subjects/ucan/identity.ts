/** An identity: an Ed25519 key with its DID, and the text form (`Mg…`) in which ucanto keeps it. */
import * as Signature from '@ipld/dag-ucan/signature'
import type { DID, Signer } from '@ucanto/interface'
import { ed25519 } from '@ucanto/principal'
import { quote } from '../../core/errors.ts'
import { refuseSubject } from '../mistake.ts'
import { checkProvider } from '../rates/rate-records.ts'
import {
  didOfKey,
  ED25519_KEY_BYTES,
  ED25519_PUBLIC_TAG,
  type Ed25519Pair,
  ed25519Pair,
  generateSeed,
  isDid,
  isSignedBy,
  keyOfDid,
} from './ed25519.ts'

export interface Identity {
  /** The did:key of the key itself, or the did:web it was given. */
  readonly did: DID
  /** The did:key, also where `did` is another. */
  readonly keyDid: DID<'key'>
  /** Enough to act as this identity. Never logged. */
  readonly secret: string
  readonly sign: Ed25519Pair['sign']
}

export const generateIdentity = (): Identity => toIdentity(ed25519Pair(generateSeed()))

/** `did`: another name for the key, such as did:web:example.com. */
export const parseIdentity = (secret: string, did?: string): Identity => {
  const pair = ed25519Pair(seedOf(secret.trim()))
  const identity = toIdentity(pair)
  if (identity.secret !== secret.trim()) badKey('its public part not that of its private part')
  if (did === undefined) return identity
  const name = checkProvider(did)
  if (!isDid(name) || !/^did:web:/.test(name)) {
    const rule = 'must be a did:web, or absent: a did:key names its own key'
    return refuseSubject({ code: 'PROVIDER_INVALID', thing: 'did', rule, finding: quote(did) })
  }
  return { ...identity, did: name }
}

/** DID Core 1.0: the document from which others learn the key of a did:web, at `/.well-known/did.json`. */
export const didDocument = ({ did, keyDid }: Identity) => {
  const publicKeyMultibase = keyDid.slice('did:key:'.length)
  const key = `${did}#${publicKeyMultibase}`
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [{ id: key, type: 'Multikey', controller: did, publicKeyMultibase }],
    authentication: [key],
    assertionMethod: [key],
    capabilityDelegation: [key],
    capabilityInvocation: [key],
  }
}

/** As ucanto takes it, with our own arithmetic. */
export const signerOf = (identity: Identity): Signer => {
  const signer = ed25519.Signer.parse(identity.secret).withDID(identity.did)
  const key = keyOfDid(identity.keyDid)
  const own: Signer = {
    did: () => identity.did,
    toDIDKey: () => identity.keyDid,
    signatureCode: signer.signatureCode,
    signatureAlgorithm: signer.signatureAlgorithm,
    sign: (payload) => Signature.create(Signature.EdDSA, identity.sign(payload)),
    verify: (payload, { raw }) => key !== undefined && isSignedBy(key, payload, raw),
    withDID: (did) => signer.withDID(did),
    toArchive: () => signer.toArchive(),
    verifier: signer.verifier,
    get signer() {
      return own
    },
  }
  return own
}

/** Tag, seed, tag, public key: in base64 with padding, marked by the letter M. */
function toIdentity(pair: Ed25519Pair): Identity {
  const { seed, publicKey } = pair
  const bytes = Buffer.from([...PRIVATE_TAG, ...seed, ...ED25519_PUBLIC_TAG, ...publicKey])
  const did = didOfKey(publicKey)
  return { did, keyDid: did, secret: `M${bytes.toString('base64')}`, sign: pair.sign }
}

function seedOf(secret: string): Uint8Array {
  const bytes = Buffer.from(secret.slice(1), 'base64')
  const length =
    PRIVATE_TAG.length + ED25519_KEY_BYTES + ED25519_PUBLIC_TAG.length + ED25519_KEY_BYTES
  if (!/^M[A-Za-z0-9+/]+=*$/.test(secret) || bytes.length !== length) {
    return badKey(`${secret.length} characters of another form`)
  }
  if (PRIVATE_TAG.some((byte, index) => bytes[index] !== byte)) {
    return badKey('the tag of another kind of key')
  }
  return bytes.subarray(PRIVATE_TAG.length, PRIVATE_TAG.length + ED25519_KEY_BYTES)
}

/** The tag of an Ed25519 private key among the multicodecs, as a varint. */
const PRIVATE_TAG = [0x80, 0x26]

/** Never quotes the text: it may be a key with a letter missing. */
function badKey(finding: string): never {
  const rule = 'must be an Ed25519 key as `headgate keys new` prints it, beginning with Mg'
  return refuseSubject({ code: 'KEY_INVALID', thing: 'key', rule, finding })
}
