/**
 * The delegation that an invocation of `ucan/revoke` names. It must be enclosed, and must come from
 * this service: otherwise strangers could fill the store with revocations of what nobody ever granted.
 */
import * as UCAN from '@ipld/dag-ucan'
import type { Capability } from '@ucanto/interface'
import type { Blocks } from './blocks.ts'
import type { Identity } from './identity.ts'
import { isUcanLink } from './message.ts'
import { type ProofTree, readProofTree } from './proof-tree.ts'
import { viewToken } from './token.ts'
import type { Verifiers } from './verifiers.ts'

/** Tokens that claim to be the service's own and are checked. An honest chain has one, at its end. */
const MAX_GRANTS = 8

export const readRevocationTarget = async (
  { nb }: Capability,
  blocks: Blocks,
  identity: Identity,
  verifiers: Verifiers,
): Promise<ProofTree | undefined> => {
  const link: unknown = Object.getOwnPropertyDescriptor(nb ?? {}, 'ucan')?.value
  if (!isUcanLink(link)) return undefined
  const tree = readProofTree(link, blocks, identity.did)
  if ('broken' in tree) return undefined
  const granted = [...tree.tokens].filter(([, { issuer }]) => issuer === identity.did)
  for (const [cid] of granted.slice(0, MAX_GRANTS)) {
    const view = viewToken(cid, blocks)
    const verifier = verifiers.named(identity.did, identity.keyDid)
    if (view !== undefined && (await UCAN.verifySignature(view.data, verifier))) return tree
  }
  return undefined
}
