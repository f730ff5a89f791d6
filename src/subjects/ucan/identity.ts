/** Who signs: an Ed25519 key, its DID, and the text form (`Mg…`) in which ucanto keeps it. */
import * as Signature from '@ipld/dag-ucan/signature'
import type { DID, Signer } from '@ucanto/interface'
import { ed25519 } from '@ucanto/principal'
import { quote, refuse } from '../mistake.ts'
import { checkProvider } from '../rates.ts'
import { didOfKey, generateSeed, KEY_BYTES, type KeyPair, keyPair, PUBLIC_TAG } from './ed25519.ts'
import { isDid, type Verifiers } from './verifiers.ts'

export interface Identity {
  /** did:key of the key itself, or the did:web it was given. */
  readonly did: DID
  /** The did:key, whatever else it is called. */
  readonly keyDid: DID<'key'>
  /** Whoever has this is this identity. Never logged. */
  readonly secret: string
  readonly sign: KeyPair['sign']
}

export const generateIdentity = (): Identity => toIdentity(keyPair(generateSeed()))

/** `did`: another name for the key, such as did:web:example.com. */
export const parseIdentity = (secret: string, did?: string): Identity => {
  const pair = keyPair(seedOf(secret.trim()))
  const identity = toIdentity(pair)
  if (identity.secret !== secret.trim()) refuseKey('its public part not that of its private part')
  if (did === undefined) return identity
  const name = checkProvider(did)
  if (!isDid(name) || !/^did:web:/.test(name)) {
    const rule = 'must be a did:web, or absent: a did:key names its own key'
    return refuse({ code: 'PROVIDER_INVALID', thing: 'did', rule, finding: quote(did) })
  }
  return { ...identity, did: name }
}

/** As ucanto wants to see it, with our own arithmetic. */
export const signerOf = (identity: Identity, verifiers: Verifiers): Signer => {
  const kept = ed25519.Signer.parse(identity.secret)
  const signer = kept.withDID(identity.did)
  const verifier = verifiers.named(identity.did, identity.keyDid)
  const own: Signer = {
    did: () => identity.did,
    toDIDKey: () => identity.keyDid,
    signatureCode: signer.signatureCode,
    signatureAlgorithm: signer.signatureAlgorithm,
    sign: (payload) => Signature.create(Signature.EdDSA, identity.sign(payload)),
    verify: (payload, signature) => verifier.verify(payload, signature),
    withDID: (did) => signer.withDID(did),
    toArchive: () => signer.toArchive(),
    verifier,
    get signer() {
      return own
    },
  }
  return own
}

/** Tag, seed, tag, public key: in base64 with padding, marked by the letter M. */
function toIdentity(pair: KeyPair): Identity {
  const { seed, publicKey } = pair
  const bytes = Buffer.from([...PRIVATE_TAG, ...seed, ...PUBLIC_TAG, ...publicKey])
  const did = didOfKey(publicKey)
  return { did, keyDid: did, secret: `M${bytes.toString('base64')}`, sign: pair.sign }
}

function seedOf(secret: string): Uint8Array {
  const bytes = Buffer.from(secret.slice(1), 'base64')
  const length = PRIVATE_TAG.length + KEY_BYTES + PUBLIC_TAG.length + KEY_BYTES
  if (!/^M[A-Za-z0-9+/]+=*$/.test(secret) || bytes.length !== length) {
    return refuseKey(`${secret.length} characters of another form`)
  }
  if (PRIVATE_TAG.some((byte, index) => bytes[index] !== byte)) {
    return refuseKey('the tag of another kind of key')
  }
  return bytes.subarray(PRIVATE_TAG.length, PRIVATE_TAG.length + KEY_BYTES)
}

/** The tag of an Ed25519 private key among the multicodecs, as a varint. */
const PRIVATE_TAG = [0x80, 0x26]

/** Never quotes the text: it may be a key with a letter missing. */
function refuseKey(finding: string): never {
  const rule = 'must be an Ed25519 key as `headgate keys new` prints it, beginning with Mg'
  return refuse({ code: 'KEY_INVALID', thing: 'key', rule, finding })
}
