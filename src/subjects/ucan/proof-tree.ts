/**
 * The proofs behind an invocation, weighed before the first signature is checked: the validator
 * tries every path, and a few kilobytes can hold more paths than a day has seconds.
 */
import type { Link } from '@ucanto/interface'
import { type Blocks, isPlainLink } from './blocks.ts'
import { readToken, type Token } from './token.ts'

/** Signature checks that one invocation may cost. A chain of ten delegations costs eleven. */
export const MAX_CHECKS = 56

export interface ProofTree {
  readonly root: Token
  /** Every token that can be reached, by CID, the root included. */
  readonly tokens: ReadonlyMap<string, Token>
}

export type ProofFault =
  | 'the invocation must be a UCAN in DAG-CBOR'
  | 'every proof must be a UCAN in DAG-CBOR'
  | 'every issuer must be a did:key, or this service'
  | `the proofs must take at most ${typeof MAX_CHECKS} signature checks`

/** A proof that is not enclosed is left out here; the validator will miss it too. */
export const readProofTree = (
  link: Link,
  blocks: Blocks,
  service: string,
): ProofTree | { readonly broken: ProofFault } => {
  const tokens = new Map<string, Token>()
  const pending = [`${link}`]
  for (let cid = pending.pop(); cid !== undefined; cid = pending.pop()) {
    const block = blocks.get(cid)
    if (block === undefined || tokens.has(cid)) continue
    const token = readToken(block)
    if (token === undefined) return { broken: 'every proof must be a UCAN in DAG-CBOR' }
    // Others would need a session or a look-up of their keys, each a search of its own.
    if (!token.issuer.startsWith('did:key:') && token.issuer !== service) {
      return { broken: 'every issuer must be a did:key, or this service' }
    }
    // A link can hold a whole token in itself, which nothing here would weigh.
    if (!token.proofs.every(isPlainLink))
      return { broken: 'every proof must be a UCAN in DAG-CBOR' }
    tokens.set(cid, token)
    pending.push(...token.proofs.map(String))
  }
  const root = tokens.get(`${link}`)
  if (root === undefined) return { broken: 'the invocation must be a UCAN in DAG-CBOR' }
  if (checksOf(root, tokens) > MAX_CHECKS) {
    return { broken: `the proofs must take at most ${MAX_CHECKS} signature checks` }
  }
  return { root, tokens }
}

/**
 * One for the token itself, and for each of its capabilities that could carry the invocation, all
 * that its proofs take. Each token is weighed once, so the weighing is not exponential itself.
 */
function checksOf(root: Token, tokens: ReadonlyMap<string, Token>): number {
  const invoked = root.capabilities[0]?.can ?? ''
  const weights = new Map<Token, number>()
  const weigh = (token: Token, depth: number): number => {
    const known = weights.get(token)
    if (known !== undefined) return known
    // Deeper than the budget is over the budget.
    if (depth > MAX_CHECKS) return MAX_CHECKS + 1
    const below = token.proofs.reduce((sum, proof) => {
      const next = tokens.get(`${proof}`)
      return sum + (next === undefined ? 0 : weigh(next, depth + 1))
    }, 0)
    const carriers = token.capabilities.filter(({ can }) => covers(can, invoked)).length
    const weight = 1 + carriers * below
    weights.set(token, weight)
    return weight
  }
  return weigh(root, 0)
}

/** `*` and `rate-limit/*` cover what is below them; `rate-limit/a*` covers only itself. */
function covers(pattern: string, ability: string): boolean {
  if (pattern === '*' || pattern === ability) return true
  return pattern.endsWith('/*') && ability.startsWith(pattern.slice(0, -1))
}
