/** Ed25519 (RFC 8032) by Node's own crypto: a check takes 0.1 ms where the libraries' JavaScript takes 2 ms. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { base58btc } from 'multiformats/bases/base58'

export const KEY_BYTES = 32
export const SIGNATURE_BYTES = 64

export interface KeyPair {
  readonly seed: Uint8Array
  readonly publicKey: Uint8Array
  /** Deterministic, as RFC 8032 wants it: a step that signs is still pure. */
  sign(payload: Uint8Array): Uint8Array
}

export const generateSeed = (): Uint8Array => {
  const { privateKey } = generateKeyPairSync('ed25519')
  return new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-KEY_BYTES))
}

export const keyPair = (seed: Uint8Array): KeyPair => {
  const der = Buffer.concat([PKCS8_PREFIX, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    seed,
    publicKey: new Uint8Array(spki.subarray(-KEY_BYTES)),
    sign: (payload) => new Uint8Array(sign(null, payload, key)),
  }
}

/** The did:key of a public key: its multicodec tag and its bytes in base58. */
export const didOfKey = (publicKey: Uint8Array): `did:key:${string}` =>
  `did:key:${base58btc.encode(Uint8Array.of(...PUBLIC_TAG, ...publicKey))}`

/**
 * The key that an Ed25519 did:key names; undefined for every other DID. Remembered: making a key of
 * its bytes takes longer than checking a signature with it.
 */
export const keyOfDid = (did: string): KeyObject | undefined => {
  const known = keys.get(did)
  if (known !== undefined) return known
  const key = makeKey(did)
  if (keys.size >= MAX_REMEMBERED) keys.clear()
  if (key !== undefined) keys.set(did, key)
  return key
}

export const isSignedBy = (key: KeyObject, payload: Uint8Array, signature: Uint8Array): boolean =>
  signature.length === SIGNATURE_BYTES && verify(null, payload, key, signature)

/** The tag of an Ed25519 public key among the multicodecs, as a varint. */
export const PUBLIC_TAG = [0xed, 0x01]

/** What stands before the bytes of a key in the standard encodings of RFC 8410. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** Keys that are at hand: those of the people who administer one service. */
const MAX_REMEMBERED = 1_000
const keys = new Map<string, KeyObject>()

function makeKey(did: string): KeyObject | undefined {
  const bytes = bytesOf(did)
  if (bytes === undefined || bytes.length !== PUBLIC_TAG.length + KEY_BYTES) return undefined
  if (PUBLIC_TAG.some((byte, index) => bytes[index] !== byte)) return undefined
  const der = Buffer.concat([SPKI_PREFIX, bytes.subarray(PUBLIC_TAG.length)])
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}

/** Longer text names no key of ours; base58 takes quadratic time to read. */
const MAX_DID_KEY = 128

function bytesOf(did: string): Uint8Array | undefined {
  if (!did.startsWith('did:key:z') || did.length > MAX_DID_KEY) return undefined
  try {
    return base58btc.decode(did.slice('did:key:'.length))
  } catch {
    return undefined
  }
}
