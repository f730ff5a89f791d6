/** A signer's key: the secret itself, and what everybody may know of it. */
import type { Bytes } from '../poprf/bytes.ts'
import { refuseKey } from './key-mistake.ts'

/** What a key is for. One key in two services lets either answer for the other. */
export type KeyPurpose = string

/** CIP-40's domains. The older phone-number service has keys of its own. */
export const DOMAINS_PURPOSE: KeyPurpose = 'odis-domains'

/** The arithmetic that the key belongs to, in its file too: other suites may come. */
export const SUITE = 'pith-bls12-377'

interface Known {
  readonly purpose: KeyPurpose
  /** 96 bytes: what clients verify answers against. Of a share: the public key of the whole. */
  readonly publicKey: Bytes
}

export interface SingleKey extends Known {
  readonly kind: 'single'
  /** 32 bytes. */
  readonly secret: Bytes
}

export interface ShareKey extends Known {
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

/** As far as a runtime with a moving collector allows: copies that it made are out of reach. */
export const wipe = (bytes: Bytes): void => {
  bytes.fill(0)
}
