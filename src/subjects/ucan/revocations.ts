/**
 * Revoked delegations. A revocation is only ever added to: nobody can undo one, the revoker included.
 *
 * It counts where the revoker has a part in the chain in use: as issuer or audience of what was
 * revoked, or as issuer of something further up.
 */
import { type Instant, instant, type Key, type Plan, type View } from '../../core/index.ts'
import { revocationKey } from '../keys.ts'
import { type Result, refused } from '../refusal.ts'
import type { Chain } from './authorise.ts'
import type { ProofTree } from './proof-tree.ts'
import type { Token } from './token.ts'

export type RevocationRefusal = 'UnauthorizedRevocation' | 'RevocationsFull'

/** Participants of one delegation that may each revoke it. One revocation is enough. */
const MAX_REVOKERS = 64

export const revocationKeys = (provider: string, chain: Chain): readonly Key[] =>
  chain.map(({ fingerprint }) => revocationKey(provider, fingerprint))

/** The first token of the chain that somebody with a part in it has revoked. */
export const findRevoked = (view: View, provider: string, chain: Chain): Token | undefined => {
  const records = view.read(...revocationKeys(provider, chain))
  return chain.find((token, index) => {
    const entitled = new Set([token.audience, ...chain.slice(index).map(({ issuer }) => issuer)])
    return revokersIn(records[index]).some((did) => entitled.has(did))
  })
}

/** Who has a say over a delegation: its two ends, and the issuers of its proofs. */
export const isParticipant = ({ root, tokens }: ProofTree, did: string): boolean =>
  root.audience === did || [...tokens.values()].some(({ issuer }) => issuer === did)

export const revoke = (
  view: View,
  provider: string,
  target: ProofTree,
  revoker: string,
): Plan<Result<{ readonly time: number }, RevocationRefusal>> => {
  const none = { writes: [], appends: [] }
  if (!isParticipant(target, revoker)) {
    const rule = 'may be revoked only by its issuer, its audience or the issuers of its proofs'
    const message = `${target.root.cid}: ${rule}, found ${revoker}`
    return { ...none, result: refused('UnauthorizedRevocation', message) }
  }
  const key = revocationKey(provider, target.root.fingerprint)
  const [record] = view.read(key)
  const revokers = revokersIn(record)
  const result = { ok: { time: Math.floor(view.now / 1_000_000) } }
  if (revokers.includes(revoker)) return { ...none, result }
  if (revokers.length >= MAX_REVOKERS) {
    const message = `${target.root.cid}: has ${MAX_REVOKERS} revocations already`
    return { ...none, result: refused('RevocationsFull', message) }
  }
  const value = JSON.stringify([...revokers, revoker])
  return { writes: [{ key, value, ...expiry(target.root) }], appends: [], result }
}

/** What has expired is refused anyway. */
function expiry({ expires }: Token): { readonly expiresAt?: Instant } {
  return expires === undefined ? {} : { expiresAt: instant(expires * 1_000_000) }
}

function revokersIn(record: string | undefined): readonly string[] {
  const list: unknown = record === undefined ? [] : JSON.parse(record)
  return Array.isArray(list) ? list.map(String) : []
}
