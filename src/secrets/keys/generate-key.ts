/** A new key in one hand: for development, and for services that have a single signer. */
import type { RandomBytes } from '../poprf/curve/scalar.ts'
import { generatePrivateKey } from '../poprf/generate-private-key.ts'
import { publicKeyOf } from '../poprf/key-share.ts'
import { DOMAINS_PURPOSE, type KeyPurpose, type SingleKey } from './key.ts'

export interface GenerateKeyOptions {
  /** Default `odis-domains`. */
  readonly purpose?: KeyPurpose
  /** Default: the system's. */
  readonly random?: RandomBytes
}

/** The caller wipes `secret` when it is stored. */
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
