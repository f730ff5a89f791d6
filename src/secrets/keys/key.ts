/** A signer's key: the secret itself, and what anyone may know of it. */
import { type ThrowMistake, throwMistake } from '../../core/errors.ts'
import { type Bytes, equalBytes } from '../poprf/bytes.ts'
import type { RandomBytes } from '../poprf/curve/scalar.ts'
import {
  generatePrivateKey,
  INDEX_BYTES,
  PUBLIC_KEY_BYTES,
  publicKeyOf,
  shareIndexOf,
  sharePublicKey,
} from '../poprf/key-share.ts'

/** What a key is for. One key in two services lets either answer for the other. */
export type KeyPurpose = string

/** CIP-40's domains. The older phone-number service has keys of its own. */
export const DOMAINS_PURPOSE: KeyPurpose = 'odis-domains'

/** The arithmetic that the key belongs to. Its file names it too: other suites may come. */
export const SUITE = 'pith-bls12-377'

interface PublicPart {
  readonly purpose: KeyPurpose
  /** 96 bytes: what clients verify answers against. Of a share: the public key of the whole. */
  readonly publicKey: Bytes
}

export interface SingleKey extends PublicPart {
  readonly kind: 'single'
  /** 32 bytes. */
  readonly secret: Bytes
}

export interface ShareKey extends PublicPart {
  readonly kind: 'share'
  /** 36 bytes: the index, then the scalar. */
  readonly secret: Bytes
  /** Commitments to all coefficients: against these a part can be verified on its own. */
  readonly polynomial: Bytes
}

export type SignerKey = SingleKey | ShareKey

/** As many digits as a request's header may have. */
export const MAX_KEY_VERSION = 999_999_999

export const requireVersion = (version: number): number =>
  Number.isInteger(version) && version >= 1 && version <= MAX_KEY_VERSION
    ? version
    : refuseKey({
        code: 'KEY_VERSION_INVALID',
        thing: 'key version',
        rule: `must be a whole number from 1 to ${MAX_KEY_VERSION}`,
        finding: String(version),
      })

export interface GenerateKeyOptions {
  /** Default `odis-domains`. */
  readonly purpose?: KeyPurpose
  /** Default: the system's. */
  readonly random?: RandomBytes
}

/**
 * A whole key: for development, and for a service with a single signer. The caller wipes `secret` once
 * it is saved.
 */
export const generateKey = ({
  purpose = DOMAINS_PURPOSE,
  random,
}: GenerateKeyOptions = {}): SingleKey => {
  const secret = generatePrivateKey(random)
  return { kind: 'single', purpose, secret, publicKey: publicKeyOf(secret) }
}

/** As clients take it in their configuration. */
export const publicKeyText = ({ publicKey }: { readonly publicKey: Uint8Array }): string =>
  Buffer.from(publicKey).toString('base64')

/** Where the constant term begins in an encoded polynomial, after its count. */
export const CONSTANT_AT = 8

/**
 * Refuses a key whose secret does not fit its public key, or as a share its polynomial: it would sign
 * what no client accepts, and use up quotas. Costs a few multiplications.
 */
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
      const index = shareIndexOf(key.secret)
      const own = publicKeyOf(key.secret.subarray(INDEX_BYTES))
      const constant = key.polynomial.subarray(CONSTANT_AT, CONSTANT_AT + PUBLIC_KEY_BYTES)
      const onPolynomial = equalBytes(sharePublicKey(key.polynomial, index), own)
      return onPolynomial && equalBytes(constant, key.publicKey)
    }
    default:
      return key satisfies never
  }
}

/** As far as the runtime allows: copies that its garbage collector made are out of reach. */
export const wipe = (bytes: Bytes): void => {
  bytes.fill(0)
}

// The mistakes that can be made with keys. No message repeats a byte of a key or of what encrypts it.

/** Each has a heading in docs/reference/errors.md. */
export const KEY_ERROR_CODES = [
  'KEY_SECRET_UNREADABLE',
  'KEY_SECRET_INVALID',
  'KEY_DIRECTORY_UNREADABLE',
  'KEY_DIRECTORY_EMPTY',
  'KEY_DIRECTORY_FULL',
  'KEY_DIRECTORY_EXPOSED',
  'KEY_FILE_INVALID',
  'KEY_FILE_EXPOSED',
  'KEY_FORMAT_UNKNOWN',
  'KEY_PURPOSE_WRONG',
  'KEY_UNDECIPHERABLE',
  'KEY_INCONSISTENT',
  'KEY_IMPORT_INVALID',
  'KEY_VERSION_INVALID',
  'KEY_VERSION_EXISTS',
  'KEY_VERSION_CHANGED',
  'KEY_VERSION_UNKNOWN',
] as const

export type KeyErrorCode = (typeof KEY_ERROR_CODES)[number]

export const refuseKey: ThrowMistake<KeyErrorCode> = throwMistake
