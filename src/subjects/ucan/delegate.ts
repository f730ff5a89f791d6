/** Handing on a right, narrowed and for a time, as a CAR file that its holder encloses with what it asks. */
import * as DID from '@ipld/dag-ucan/did'
import { Delegation } from '@ucanto/core'
import type { Delegation as DelegationView } from '@ucanto/interface'
import type { Instant } from '../../core/index.ts'
import { quote, refuse } from '../mistake.ts'
import { createShelf, MAX_BLOCKS } from './blocks.ts'
import { isAbility, WHOLE_NAMESPACE } from './capabilities.ts'
import { type Identity, signerOf } from './identity.ts'
import { decode, isUcanLink, own } from './message.ts'
import { readToken, type Token, viewToken } from './token.ts'
import { createVerifiers, isDid } from './verifiers.ts'

export interface DelegateOptions {
  readonly from: Identity
  /** The DID of who may use it. */
  readonly to: string
  /** An ability of the service, or `rate-limit/*`. */
  readonly can: string
  /** The service over whose rates the right is; the issuer itself unless told. */
  readonly provider?: string | undefined
  /** What every use must equal: `{ subject: 'example.com', rate: 0 }`. */
  readonly caveats?: Readonly<Record<string, unknown>> | undefined
  /** In whole seconds, rounded down: a right never lasts longer than was said. */
  readonly expiresAt: Instant | 'never'
  readonly notBefore?: Instant | undefined
  /** By what right the issuer hands it on, where it is not the service itself. */
  readonly proofs?: readonly Uint8Array[] | undefined
}

export interface Proof {
  readonly cid: string
  /** The CAR. */
  readonly bytes: Uint8Array
}

export const delegate = async (options: DelegateOptions): Promise<Proof> => {
  const { from, to, can, provider = from.did, caveats = {}, expiresAt, notBefore } = options
  if (!isDid(to)) return invalid('to', 'must be a DID', quote(to))
  if (!isDid(provider)) return invalid('provider', 'must be a DID', quote(provider))
  if (!isAbility(can) && can !== WHOLE_NAMESPACE) {
    return invalid('can', `must be an ability of the service, or ${WHOLE_NAMESPACE}`, quote(can))
  }
  const nb = Object.keys(caveats).length === 0 ? {} : { nb: caveats }
  const delegation = await Delegation.delegate({
    issuer: signerOf(from, createVerifiers()),
    audience: DID.parse(to),
    capabilities: [{ can, with: provider, ...nb }],
    expiration: expiresAt === 'never' ? Number.POSITIVE_INFINITY : inSeconds(expiresAt),
    ...(notBefore === undefined ? {} : { notBefore: inSeconds(notBefore) }),
    proofs: (options.proofs ?? []).map((proof) => readProof(proof)),
  })
  const archive = await Delegation.archive(delegation)
  if (archive.error) throw archive.error
  return { cid: `${delegation.cid}`, bytes: archive.ok }
}

/** What a CAR file of `delegate`, or of another tool that writes ucanto's archives, holds; or one of its proofs. */
export const readProof = (bytes: Uint8Array, cid?: string): DelegationView => {
  const archive = createShelf().read(Uint8Array.from(bytes))
  if ('broken' in archive) {
    return invalid('proof', 'must be a CAR with one delegation', archive.broken)
  }
  const link = own(decode(archive.root.bytes), 'ucan@0.9.1')
  const view = isUcanLink(link) ? viewToken(cid ?? link, archive.blocks) : undefined
  if (view === undefined || readToken(view.root) === undefined) {
    const rule = `must be the archive of a UCAN 0.9.1, of at most ${MAX_BLOCKS} blocks`
    return invalid('proof', rule, cid === undefined ? 'another kind of CAR' : `one without ${cid}`)
  }
  return view
}

/** What a person wants to know of a proof file. */
export const inspectProof = (bytes: Uint8Array): Token => {
  const token = readToken(readProof(bytes).root)
  return token ?? invalid('proof', 'must be a UCAN', 'none')
}

const inSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

function invalid(thing: string, rule: string, finding: string): never {
  return refuse({ code: 'PROOF_INVALID', thing, rule, finding })
}
