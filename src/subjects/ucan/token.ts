/** A UCAN 0.9.1 token of the DAG-CBOR form, decoded once. */
import { CBOR, Delegation, isLink } from '@ucanto/core'
import type { Block, Capability, Delegation as DelegationView, Link } from '@ucanto/interface'
import type { Blocks } from './blocks.ts'
import { fingerprintOf } from './fingerprint.ts'

export interface Token {
  readonly cid: string
  readonly fingerprint: string
  readonly issuer: string
  readonly audience: string
  readonly capabilities: readonly Capability[]
  /** In seconds since the epoch; undefined: never. */
  readonly expires: number | undefined
  readonly notBefore: number | undefined
  readonly proofs: readonly Link[]
  readonly facts: readonly object[]
}

/** Caveats and facts are nested this deep at most: whoever writes them down as text recurses. */
const MAX_DEPTH = 16

/** Beyond it a moment is no longer exact in microseconds; what lasts until then lasts for ever. */
const MAX_SECONDS = 9_000_000_000

/** Abilities that one token may name: each may be tried on every path. */
const MAX_CAPABILITIES = 64

const decoded = new WeakMap<Uint8Array, Token>()

/** Undefined if the block is no token of this form. */
export const readToken = (block: Block): Token | undefined => {
  const known = decoded.get(block.bytes)
  if (known !== undefined) return known
  const token = decode(block)
  if (token !== undefined) decoded.set(block.bytes, token)
  return token
}

/** As the validator wants to see it. */
export const viewToken = (link: Link | string, blocks: Blocks): DelegationView | undefined => {
  const root = blocks.get(`${link}`)
  return root === undefined ? undefined : Delegation.importDAG([...blocks.values(), root])
}

function decode(block: Block): Token | undefined {
  try {
    const view = Delegation.importDAG([block]).data
    // The library falls back to a JWT in the bytes.
    if (view.code !== CBOR.code || view.capabilities.length > MAX_CAPABILITIES) return undefined
    if (!view.capabilities.every(hasCaveatMap)) return undefined
    if (!isSpeakable([view.capabilities, view.facts], 0)) return undefined
    return {
      cid: `${block.cid}`,
      get fingerprint() {
        return fingerprintOf(view)
      },
      issuer: view.issuer.did(),
      audience: view.audience.did(),
      capabilities: view.capabilities,
      expires: view.expiration > MAX_SECONDS ? undefined : view.expiration,
      notBefore: view.notBefore,
      proofs: view.proofs,
      facts: view.facts,
    }
  } catch {
    return undefined
  }
}

/** Caveats that are no map would be read as none. */
function hasCaveatMap({ nb }: Capability): boolean {
  return nb === undefined || (typeof nb === 'object' && nb !== null && !Array.isArray(nb))
}

/** What can be told in a message: no integers beyond 2^53, which JSON refuses, and no endless nesting. */
function isSpeakable(value: unknown, depth: number): boolean {
  if (typeof value === 'bigint' || depth > MAX_DEPTH) return false
  if (typeof value !== 'object' || value === null || isLink(value)) return true
  if (value instanceof Uint8Array) return true
  return Object.values(value).every((part) => isSpeakable(part, depth + 1))
}
