/**
 * Revoked delegations. A revocation cannot be undone, not even by the revoker.
 *
 * It counts where the revoker has a part in the chain in use: as issuer or audience of what was
 * revoked, or as issuer of a token further up. So the service can revoke every delegation; it needs to
 * show no chain, and nobody can take the room for its revocation.
 */
import type { Capability } from '@ucanto/interface'
import { answer, type Commit, type Key, type View } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import { ok, type RateResult, refusal } from '../mistake.ts'
import { grantRevocationsKey, revocationKey } from '../rates/rate-records.ts'
import { type NewRateAuthor, revocationChange } from '../rates/rate-steps.ts'
import { hasExpired } from './authorise.ts'
import { isBlockLink, ownField } from './cbor.ts'
import type { ProofChain, Proofs } from './proofs.ts'
import { expiryOf, type UcanToken, type UnverifiedToken } from './token.ts'

type RevocationRefusalName = 'UCANNotFound' | 'UnauthorizedRevocation' | 'RevocationsFull'

/** Participants of one delegation that may each revoke it. One is enough, and the service's always fits. */
const MAX_REVOKERS = 64

/** By all who act through one grant of the service. Beyond it, someone further up revokes more at once. */
export const MAX_REVOCATIONS_PER_GRANT = 1_000

export const revocationKeys = (provider: string, chain: ProofChain): readonly Key[] =>
  chain.map(({ fingerprint }) => revocationKey(provider, fingerprint))

/** The first token of the chain that a participant has revoked. */
export const findRevoked = (
  view: View,
  provider: string,
  chain: ProofChain,
): UcanToken | undefined => {
  const records = view.read(...revocationKeys(provider, chain))
  return chain.find((token, index) => {
    const entitled = new Set([token.audience, ...chain.slice(index).map(({ issuer }) => issuer)])
    return revokersIn(records[index]).some((did) => entitled.has(did))
  })
}

/** A delegation to be revoked, and the chain that gives the revoker a part in it. */
export interface RevocationTarget {
  readonly chain: ProofChain
  readonly revoker: string
  /** With which such chains may end. */
  readonly grants: readonly UnverifiedToken[]
  /** Such a chain of which nothing has expired by then; undefined if none was shown. */
  livingChain(now: Instant): ProofChain | undefined
}

/** All that `revoke` can read: whichever chain is alive by then, it ends with a grant of the service. */
export const revokeKeys = (
  provider: string,
  { chain, grants }: RevocationTarget,
): readonly Key[] => [
  revocationKey(provider, chain[0].fingerprint),
  ...grants.map(({ fingerprint }) => grantRevocationsKey(provider, fingerprint)),
]

/**
 * Writes nothing if what was shown has expired: who had a right once must not fill the store for ever. It
 * is done then if the delegation can no longer be used, and refused if it rests on other proofs too.
 */
export const revoke = (
  view: View,
  author: NewRateAuthor,
  { chain: shown, revoker, livingChain }: RevocationTarget,
): Commit<RateResult<{ readonly time: number }, RevocationRefusalName>> => {
  const { provider } = author
  const [token] = shown
  const result = ok({ time: inSeconds(view.now) })
  const key = revocationKey(provider, token.fingerprint)
  const revokers = revokersIn(view.read(key)[0])
  if (revokers.includes(revoker) || revokers.includes(provider)) return answer(result)
  const chain = livingChain(view.now)
  if (chain === undefined) {
    const isOver = hasExpired({ expires: usableUntil(shown) }, view.now)
    return answer(isOver ? result : refusal('UCANNotFound', NOT_SHOWN))
  }
  const expiry = expiryOf({ expires: usableUntil(chain) })
  const appends = [revocationChange(view, author, revoker, token)]
  if (revoker === provider) {
    const value = JSON.stringify([provider])
    return { writes: [{ key, value, ...expiry }], appends, result }
  }
  const grant = chain.at(-1) ?? token
  const countKey = grantRevocationsKey(provider, grant.fingerprint)
  const count = Number(view.read(countKey)[0] ?? 0)
  if (revokers.length >= MAX_REVOKERS || count >= MAX_REVOCATIONS_PER_GRANT) {
    const rule = `takes at most ${MAX_REVOKERS} revocations, and one grant of the service allows ${MAX_REVOCATIONS_PER_GRANT}`
    return answer(refusal('RevocationsFull', `${token.cid}: ${rule}; revoke one further up`))
  }
  const writes = [
    { key, value: JSON.stringify([...revokers, revoker]), ...expiry },
    { key: countKey, value: String(count + 1), ...expiryOf(grant) },
  ]
  return { writes, appends, result }
}

/**
 * The delegation that an invocation of `ucan/revoke` names. It must be enclosed, and unless the service
 * itself revokes, so must a chain of verified tokens from it up to this service in which the revoker has
 * a part. Other enclosed tokens, forged ones too, do no harm.
 */
export const readRevocationTarget = (
  { nb, with: revoker }: Capability,
  proofs: Proofs,
  service: string,
): RateResult<RevocationTarget, RevocationRefusalName> => {
  const link = ownField(nb, 'ucan')
  const token = isBlockLink(link) ? proofs.read(`${link}`) : undefined
  if (token === undefined || 'broken' in token) return refusal('UCANNotFound', NOT_SHOWN)
  if (revoker === service) {
    const livingChain = (now: Instant): ProofChain | undefined =>
      hasExpired(token, now) ? undefined : [token]
    return ok({ chain: [token], revoker, grants: [], livingChain })
  }
  const isRooted = token.issuer === service || proofs.under(token, service).proofs.length > 0
  if (!isRooted || !proofs.isSigned(token)) return refusal('UCANNotFound', NOT_SHOWN)
  const way = { service, proofs, via: token.audience === revoker ? undefined : revoker }
  const chain = chainTo(token, way)
  const livingChain = (now: Instant) => chainTo(token, { ...way, now })
  if (chain !== undefined) {
    return ok({ chain, revoker, grants: grantsOver(token, service, proofs), livingChain })
  }
  const rule = 'may be revoked only by its issuer, its audience or the issuers of its proofs'
  return refusal('UnauthorizedRevocation', `${token.cid}: ${rule}, found ${revoker}`)
}

/** All grants of the service that a token rests on, by whichever proofs. Each token is looked at once. */
function grantsOver(
  token: UnverifiedToken,
  service: string,
  proofs: Proofs,
): readonly UnverifiedToken[] {
  const seen = new Map([[token.cid, token]])
  // A map shows what is added while it is walked.
  for (const each of seen.values()) {
    if (each.issuer === service) continue
    for (const proof of proofs.under(each, service).proofs) seen.set(proof.cid, proof)
  }
  return [...seen.values()].filter(({ issuer }) => issuer === service)
}

const NOT_SHOWN =
  'the delegation to revoke must be enclosed, with proofs up to this service that are still valid'

interface WayUp {
  readonly service: string
  readonly proofs: Proofs
  /** Who must have issued a token of the chain, if anyone. */
  readonly via: string | undefined
  /** By when no token of the chain may have expired; if absent, all may. */
  readonly now?: Instant
}

/**
 * A chain of verified tokens from this one up to the service. Each token is tried once: what lies above
 * it does not depend on the way to it.
 */
export const chainTo = (
  token: UnverifiedToken,
  way: WayUp,
  tried: Set<string> = new Set(),
): ProofChain | undefined => {
  const { service, proofs, via, now } = way
  if (now !== undefined && hasExpired(token, now)) return undefined
  const sought = token.issuer === via ? undefined : via
  if (token.issuer === service) return sought === undefined ? [token] : undefined
  const name = `${sought ?? ''} ${token.cid}`
  if (tried.has(name)) return undefined
  tried.add(name)
  for (const proof of proofs.under(token, service).proofs) {
    const rest = chainTo(proof, { ...way, via: sought }, tried)
    if (rest !== undefined) return [token, ...rest]
  }
  return undefined
}

/**
 * How long a delegation could be used: no longer than any token that it cannot do without. Where one has
 * several proofs, the others may last longer than those in this chain.
 */
function usableUntil(chain: ProofChain): number | undefined {
  let until = Number.POSITIVE_INFINITY
  for (const { expires, proofs } of chain) {
    until = Math.min(until, expires ?? until)
    if (proofs.length > 1) break
  }
  return Number.isFinite(until) ? until : undefined
}

function revokersIn(record: string | undefined): readonly string[] {
  const list: unknown = record === undefined ? [] : JSON.parse(record)
  return Array.isArray(list) ? list.map(String) : []
}
