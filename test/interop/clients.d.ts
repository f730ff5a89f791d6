/** As much of the published clients as the tests use. Their own types do not agree with each other. */
export interface Principal {
  did(): `did:${string}:${string}`
}

export interface Outcome {
  readonly ok?: Readonly<Record<string, unknown>>
  readonly error?: { readonly name: string; readonly message: string }
}

export interface Receipt {
  readonly out: Outcome
  verifySignature(signer: Principal): Promise<{ readonly ok?: object }>
}

export interface Proof {
  readonly cid: object
  iterateIPLDBlocks(): Iterable<object>
}

export interface Invocation {
  attach(block: object): void
  execute(connection: Connection): Promise<Receipt>
}

export interface Terms {
  readonly issuer: Principal
  readonly audience: Principal
  readonly with?: string
  readonly nb?: object
  readonly proofs?: readonly Proof[]
  readonly expiration?: number
  readonly notBefore?: number
  readonly nonce?: string
}

export interface Capability {
  invoke(terms: Terms): Invocation
  delegate(terms: Terms): Promise<Proof>
}

export interface Connection {
  readonly id: Principal
}

export type Package = Readonly<Record<'add' | 'list' | 'remove' | 'revoke', Capability>>

export const PUBLISHED: Readonly<Record<string, Package>>
export const connectTo: (url: string, did: string) => Connection
export const newKey: () => Promise<Principal>
export const keyOf: (secret: string, did: string) => Principal
export const delegate: (
  terms: Terms & { readonly capabilities: readonly object[] },
) => Promise<Proof>
export const invokeByName: (terms: Terms & { readonly capability: object }) => Invocation
