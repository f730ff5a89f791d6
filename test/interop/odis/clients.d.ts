/** As much of the published clients as the tests use. */
export interface Wallet {
  readonly address: string
}

export interface BlindedQuery {
  readonly blindedMessage: Buffer
  /** Throws unless the answer verifies against the public key. */
  unblindResponse(response: Uint8Array): Buffer
}

export interface DomainAnswer {
  readonly success: boolean
  readonly version: string
  readonly signature?: string
  readonly status?: Readonly<Record<'timer' | 'counter' | 'now', number>> & {
    readonly disabled: boolean
  }
}

export interface Sending {
  readonly url: string
  readonly publicKey: string
  readonly signer: Wallet
  readonly domain: object
  readonly nonce?: number
  readonly blinded?: string
  readonly keyVersion?: string
}

export const errors: Readonly<Record<string, string>>
export const walletOf: (privateKey: string) => Wallet
export const hashOf: (domain: object) => Buffer
export const blindFor: (
  publicKey: string,
  domain: object,
  message: Uint8Array,
  seed?: Uint8Array,
) => BlindedQuery
export const send: (
  kind: 'sign' | 'quotaStatus' | 'disable',
  sending: Sending,
) => Promise<DomainAnswer>
