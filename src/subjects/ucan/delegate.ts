/** Delegations: a right handed on, narrowed and for a time, as a CAR file that its holder sends along with each question. */
import * as DID from '@ipld/dag-ucan/did'
import { Delegation } from '@ucanto/core'
import { quote } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import { refuseSubject } from '../mistake.ts'
import { isAbility, WHOLE_NAMESPACE } from './capabilities.ts'
import { isDid, isKeyDid, keyOfDid } from './ed25519.ts'
import { type Identity, signerOf } from './identity.ts'
import { readProof } from './proof-file.ts'

export interface DelegateOptions {
  readonly from: Identity
  /** The DID that may use it. */
  readonly to: string
  /** An ability of the service, or `rate-limit/*`. */
  readonly can: string
  /** The service over whose rates the right is; by default the issuer itself. */
  readonly provider?: string | undefined
  /** What every use must equal: `{ subject: 'example.com', rate: 0 }`. */
  readonly caveats?: Readonly<Record<string, unknown>> | undefined
  /** In whole seconds, rounded down: a right never outlasts what was said. */
  readonly expiresAt: Instant | 'never'
  readonly notBefore?: Instant | undefined
  /** By what right the issuer hands it on, unless it is the service itself. */
  readonly proofs?: readonly Uint8Array[] | undefined
}

export interface Proof {
  readonly cid: string
  /** The CAR. */
  readonly bytes: Uint8Array
}

export const delegate = async (options: DelegateOptions): Promise<Proof> => {
  const { from, can, caveats = {}, expiresAt, notBefore } = options
  const to = readDid('to', options.to)
  const provider = readDid('provider', options.provider ?? from.did)
  if (!isAbility(can) && can !== WHOLE_NAMESPACE) {
    return invalid('can', `must be an ability of the service, or ${WHOLE_NAMESPACE}`, quote(can))
  }
  const nb = Object.keys(caveats).length === 0 ? {} : { nb: caveats }
  const delegation = await Delegation.delegate({
    issuer: signerOf(from),
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

/** Of a did:key, the key is checked too: a right for a mistyped one could never be used. */
function readDid(thing: string, text: string): `did:${string}:${string}` {
  if (!isDid(text)) return invalid(thing, 'must be a DID', quote(text))
  if (!isKeyDid(text) || keyOfDid(text) !== undefined) return text
  return invalid(thing, 'must name an Ed25519 key, if it is a did:key', quote(text))
}

function invalid(thing: string, rule: string, finding: string): never {
  return refuseSubject({ code: 'PROOF_INVALID', thing, rule, finding })
}
