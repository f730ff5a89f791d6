/**
 * Whether an invocation has the right it claims, and through which delegations. The rules are those of
 * ucanto's validator, to which a test compares them. Its search is not used: it tries every path, checks
 * signatures again on each, and cannot be told when to stop.
 */
import type { Capability } from '@ucanto/interface'
import type { Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import { type RateResult, refusal } from '../mistake.ts'
import { type ClaimedRight, derive } from './capabilities.ts'
import type { ProofChain, Proofs } from './proofs.ts'
import type { UcanToken, UnverifiedToken } from './token.ts'
import type { WorkMeter } from './work.ts'

/** Why tokens of a message cannot be used now, by CID: another path may do. */
export type Unusable = ReadonlyMap<string, string>

interface Search {
  readonly proofs: Proofs
  readonly work: Pick<WorkMeter, 'spend'>
  readonly unusable: Unusable
}

/** Reasons in one refusal. More help nobody. */
const MAX_REASONS = 12

/** Throws `WorkExceeded`. */
export const authorise = (
  token: UnverifiedToken,
  capability: Capability,
  search: Search,
): RateResult<ProofChain, 'Unauthorized'> => {
  const { proofs, unusable } = search
  const claim = { can: capability.can, with: capability.with, nb: { ...(capability.nb ?? {}) } }
  const faults = [...unusable.values()]
  const denied = () => {
    const reasons = [...new Set(faults)].slice(0, MAX_REASONS).map((fault) => `\n- ${fault}`)
    const message = `${token.issuer} has no right to ${claim.can} with ${claim.with}:`
    return refusal('Unauthorized', `${message}${reasons.join('')}`)
  }
  if (unusable.has(token.cid)) return denied()
  const chain = findChain(token, claim, search, faults)
  if (chain === undefined) {
    if (faults.length === 0) faults.push('no delegation is enclosed')
    return denied()
  }
  if (proofs.isSigned(token)) return { ok: chain }
  faults.push('the invocation must be signed by its issuer')
  return denied()
}

/**
 * Why tokens of the chain are no good at this moment, by the store's time in whole seconds: all servers
 * must agree, and receipts are kept by it too.
 */
export const lifetimeFaults = (chain: ProofChain, now: Instant): Unusable => {
  const faults = new Map<string, string>()
  for (const token of chain) {
    const { cid, notBefore } = token
    if (hasExpired(token, now)) faults.set(cid, `Proof ${cid} has expired`)
    else if (notBefore !== undefined && inSeconds(now) <= notBefore) {
      faults.set(cid, `Proof ${cid} is not valid before ${notBefore}`)
    }
  }
  return faults
}

export const hasExpired = ({ expires }: Pick<UcanToken, 'expires'>, now: Instant): boolean =>
  expires !== undefined && expires <= inSeconds(now)

/** The first chain whose every link allows the claim. All but its first token are verified. */
function findChain(
  token: UnverifiedToken,
  claim: ClaimedRight,
  search: Search,
  faults: string[],
): ProofChain | undefined {
  // Anyone has every right over their own name.
  if (claim.with === token.issuer) return [token]
  const footing = search.proofs.under(token, claim.with)
  if (faults.length < MAX_REASONS) faults.push(...footing.faults)
  for (const proof of footing.proofs) {
    if (search.unusable.has(proof.cid)) continue
    for (const [index, capability] of proof.capabilities.entries()) {
      search.work.spend('compared', proof.weights[index] ?? 1)
      const derived = derive(claim, capability)
      if (derived.error !== undefined) {
        if (faults.length < MAX_REASONS) faults.push(derived.error())
        continue
      }
      const rest = findChain(proof, derived.ok, search, faults)
      if (rest !== undefined) return [token, ...rest]
    }
  }
  return undefined
}
