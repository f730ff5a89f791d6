/** Whether an invocation has the right it claims, by ucanto's validator, and through which delegations. */
import type { Authorization, Delegation, Link, Signer } from '@ucanto/interface'
import { provide } from '@ucanto/server'
import { assert } from '../../core/errors.ts'
import { type Result, refused } from '../refusal.ts'
import type { Blocks } from './blocks.ts'
import type { Definition } from './capabilities.ts'
import type { ProofTree } from './proof-tree.ts'
import { type Token, viewToken } from './token.ts'
import type { Verifiers } from './verifiers.ts'

/** The tokens that were used: the invocation, its proof, the proof of that, up to the owner's own. */
export type Chain = readonly [Token, ...Token[]]

export type DenialName = 'Unauthorized' | 'InvalidAudience'

export interface Claimed {
  readonly link: Link
  readonly blocks: Blocks
  readonly tree: ProofTree
  readonly definition: Definition
}

export interface Authority {
  readonly signer: Signer
  readonly verifiers: Verifiers
}

/** `revoked` are CIDs: they are left out of the search, as another path may serve. */
export const authorise = async (
  { link, blocks, tree, definition }: Claimed,
  { signer, verifiers }: Authority,
  revoked: ReadonlySet<string>,
): Promise<Result<Chain, DenialName>> => {
  const left =
    revoked.size === 0 ? blocks : new Map([...blocks].filter(([cid]) => !revoked.has(cid)))
  const invocation = viewToken(link, left)
  if (invocation === undefined) return refused('Unauthorized', revokedText(revoked))
  assert(isInvocation(invocation), 'an invocation has one capability')
  let chain: Chain | undefined
  const outcome = await examiner(definition)(invocation, {
    id: signer,
    principal: verifiers,
    // Revocations are looked up later, in the transaction that acts: here they could still come too late.
    validateAuthorization: (authorization) => {
      const [first, ...rest] = pathOf(authorization).map(({ cid }) => tokenOf(tree, `${cid}`))
      if (first !== undefined) chain = [first, ...rest]
      return { ok: {} }
    },
  })
  const error = 'error' in outcome ? outcome.error : undefined
  if (error === undefined && chain !== undefined) return { ok: chain }
  const name = error?.name === 'InvalidAudience' ? 'InvalidAudience' : 'Unauthorized'
  return refused(name, `${revokedText(revoked)}${error?.message ?? 'no right was shown'}`)
}

const revokedText = (revoked: ReadonlySet<string>): string =>
  [...revoked].map((cid) => `Proof ${cid} has been revoked\n`).join('')

function pathOf({ delegation, proofs }: Authorization): readonly Delegation[] {
  const [next] = proofs
  return next === undefined ? [delegation] : [delegation, ...pathOf(next)]
}

function tokenOf({ tokens }: ProofTree, cid: string): Token {
  const token = tokens.get(cid)
  assert(token !== undefined, 'the validator saw only tokens of this tree')
  return token
}

/** The handler does nothing: what is to be done is done in the store's transaction. */
const examiner = (definition: Definition) => provide(definition, () => ({ ok: {} }))

type Examined = Parameters<ReturnType<typeof examiner>>[0]

const isInvocation = (delegation: Delegation): delegation is Delegation & Examined =>
  delegation.capabilities.length === 1
