/**
 * What programs see of ucanto's types. Those of @ucanto/interface do not compile without
 * `skipLibCheck`, so the build lets our published declarations name these in their place. Only
 * declarations use them; the code is checked against the real ones.
 */

type UcantoDid<Method extends string = string> = `did:${Method}:${string}`

/** A content address. */
interface UcantoLink<
  _Data = unknown,
  Format extends number = number,
  Hash extends number = number,
  Version extends number = number,
> {
  readonly version: Version
  readonly code: Format
  readonly multihash: { readonly code: Hash; readonly digest: Uint8Array }
  toString(): string
}

interface UcantoBlock {
  readonly cid: UcantoLink
  readonly bytes: Uint8Array
}

/** One right: what may be done, over whose rates, and its caveats. */
interface UcantoCapability {
  readonly can: string
  readonly with: string
  readonly nb?: unknown
}

interface UcantoDelegation {
  readonly cid: UcantoLink
  readonly capabilities: readonly UcantoCapability[]
}

/** A party that can be named. */
interface UcantoPrincipal {
  did(): UcantoDid
}

export type {
  UcantoBlock as Block,
  UcantoCapability as Capability,
  UcantoDelegation as Delegation,
  UcantoDid as DID,
  UcantoLink as Link,
  UcantoPrincipal as Signer,
  UcantoPrincipal as Verifier,
}
