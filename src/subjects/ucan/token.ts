/** A UCAN 0.9.1 token of the DAG-CBOR form, decoded once and within bounds. */
import { hash, type KeyObject } from 'node:crypto'
import * as UCAN from '@ipld/dag-ucan'
import { CBOR } from '@ucanto/core'
import type { Block, Capability } from '@ucanto/interface'
import { type Instant, instant } from '../../core/time.ts'
import { isBlockLink, isPlainLink } from './cbor.ts'
import { didOfBytes, isSignedBy, rawSignature } from './ed25519.ts'
import type { WorkMeter } from './work.ts'

/** What the service can be asked to do. Here, and not beside the rules of narrowing: programs name it. */
export type Ability =
  | 'rate-limit/add'
  | 'rate-limit/list'
  | 'rate-limit/remove'
  | 'rate-limit/set'
  | 'rate-limit/get'
  | 'rate-limit/query'
  | 'rate-limit/history'
  | 'ucan/revoke'

export interface UcanToken {
  readonly cid: string
  /**
   * What identifies a token: the hash of the text that its signature covers. Revocations, receipts and
   * the history go by it, not by the CID. The holder of a token can write it down differently (with an
   * unsigned field more, with an empty nonce), under another honest CID and with a valid signature.
   */
  readonly fingerprint: string
  readonly issuer: string
  readonly audience: string
  readonly capabilities: readonly Capability[]
  /** In seconds since the epoch; undefined: never. */
  readonly expires: number | undefined
  readonly notBefore: number | undefined
  /** By CID. */
  readonly proofs: readonly string[]
  readonly facts: readonly object[]
}

/** A token as it came: nothing shows yet who signed it. */
export interface UnverifiedToken extends UcanToken {
  /** How many values each capability holds. */
  readonly weights: readonly number[]
  /** Whether this key signed it. Throws `WorkExceeded`. */
  isSignedBy(key: KeyObject, work: Pick<WorkMeter, 'spend'>): boolean
}

export type TokenFault =
  | 'must be a UCAN in DAG-CBOR'
  | 'must be signed by an Ed25519 key'
  | `must have at most ${number} ${'capabilities' | 'proofs'}`

/** Beyond it a moment is no longer exact in microseconds; what lasts until then lasts for ever. */
export const MAX_UCAN_SECONDS = 9_000_000_000

/** Each is compared with what is claimed. Consoles grant some ten at once. */
const MAX_CAPABILITIES = 32

/** Each is a way to go on. One is usual. */
const MAX_PROOFS = 16

/** The token, or the rule that it breaks. The values of the block must have been counted before. */
export const decodeToken = (block: Block): UnverifiedToken | { readonly broken: TokenFault } => {
  const view = decodeView(block.bytes)
  if (view === undefined) return NOT_UCAN
  const { att, prf, fct, s } = view.model
  if (att.length > MAX_CAPABILITIES) {
    return { broken: `must have at most ${MAX_CAPABILITIES} capabilities` }
  }
  if (prf.length > MAX_PROOFS) return { broken: `must have at most ${MAX_PROOFS} proofs` }
  // A link can hold a whole token in itself, which nothing here would weigh.
  if (!prf.every(isPlainLink) || !att.every(hasCaveatMap)) return NOT_UCAN
  const weights = att.map(weigh)
  if (!Number.isFinite(weigh([att, fct]))) return NOT_UCAN
  // Not by the library, which takes principals of any length; base58 takes quadratic time.
  const [issuer, audience] = [didOfBytes(view.issuer), didOfBytes(view.audience)]
  if (issuer === undefined || audience === undefined) return NOT_UCAN
  const signature = rawSignature(s)
  if (signature === undefined) return { broken: 'must be signed by an Ed25519 key' }
  let fingerprint: string | undefined
  return {
    cid: `${block.cid}`,
    get fingerprint() {
      fingerprint ??= hash('sha256', signedPart(view), 'base64url')
      return fingerprint
    },
    issuer,
    audience,
    capabilities: att,
    expires: view.expiration > MAX_UCAN_SECONDS ? undefined : view.expiration,
    notBefore: view.notBefore,
    proofs: prf.map(String),
    facts: fct,
    weights,
    isSignedBy: (key, work) => {
      work.spend('verified', 1)
      const text = signedPart(view)
      // Once to check the signature, and once for the fingerprint, while the text is at hand.
      work.spend('hashed', 2 * text.length)
      fingerprint = hash('sha256', text, 'base64url')
      return isSignedBy(key, text, signature)
    },
  }
}

/** For what is kept only as long as the token: an expired one is refused anyway. */
export const expiryOf = ({
  expires,
}: Pick<UcanToken, 'expires'>): { readonly expiresAt?: Instant } =>
  expires === undefined ? {} : { expiresAt: instant(expires * 1_000_000) }

const NOT_UCAN = { broken: 'must be a UCAN in DAG-CBOR' } as const

function decodeView(bytes: Uint8Array) {
  try {
    const view = UCAN.decode(bytes)
    // The library falls back to a JWT in the bytes.
    return view.code === CBOR.code ? view : undefined
  } catch {
    return undefined
  }
}

function signedPart(view: Pick<UCAN.View, 'format'>): Uint8Array {
  const text = view.format()
  return Buffer.from(text.slice(0, text.lastIndexOf('.')))
}

/** Caveats that are no map would be read as none. */
function hasCaveatMap({ nb }: Capability): boolean {
  return nb === undefined || (typeof nb === 'object' && nb !== null && !Array.isArray(nb))
}

/** How many values a value holds. Infinite if a message could not show it: JSON has no integers beyond 2^53. */
function weigh(value: unknown): number {
  if (typeof value === 'bigint') return Number.POSITIVE_INFINITY
  if (typeof value !== 'object' || value === null || isBlockLink(value)) return 1
  if (value instanceof Uint8Array) return 1
  return Object.values(value).reduce<number>((sum, part) => sum + weigh(part), 1)
}
