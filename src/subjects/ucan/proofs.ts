/**
 * The tokens of one message, and which of them truly come from whom they name. Each is decoded once and
 * verified at most once, however many invocations use it. Nothing of a message is kept, except the
 * delegations through which a right was shown: strangers cannot make the service remember anything.
 */
import type { KeyObject } from 'node:crypto'
import type { ArchiveBlocks } from './archive.ts'
import { isKeyDid, keyOfDid } from './ed25519.ts'
import type { Identity } from './identity.ts'
import { decodeToken, type UnverifiedToken } from './token.ts'
import type { WorkMeter } from './work.ts'

/** The tokens that were used: the invocation, its proof, the proof of that, up to who had the right first. */
export type ProofChain = readonly [UnverifiedToken, ...UnverifiedToken[]]

export interface Proofs {
  /** Undefined if it is not enclosed. */
  read(cid: string): UnverifiedToken | { readonly broken: string } | undefined
  isSigned(token: UnverifiedToken): boolean
  /**
   * The proofs that a token can rest on: enclosed, addressed to its issuer, signed, and resting in the
   * same way on a token that `authority` issued. What they allow is not looked at.
   */
  under(token: UnverifiedToken, authority: string): Footing
}

interface Footing {
  readonly proofs: readonly UnverifiedToken[]
  /** Why the other proofs do not serve. */
  readonly faults: readonly string[]
}

type ServiceName = Pick<Identity, 'did' | 'keyDid'>

/** All methods that look at a signature throw `WorkExceeded`. */
export const openProofs = (
  blocks: ArchiveBlocks,
  service: ServiceName,
  work: Pick<WorkMeter, 'spend'>,
  memory: TokenMemory = NO_MEMORY,
): Proofs => {
  const tokens = new Map<string, ReturnType<Proofs['read']>>()
  const keys = new Map<string, KeyObject | undefined>()
  const signed = new Map<string, boolean>()
  const footings = new Map<string, Footing>()

  const read: Proofs['read'] = (cid) => {
    const block = blocks.get(cid)
    if (block === undefined) return undefined
    const token = tokens.get(cid) ?? memory.find(cid) ?? decodeToken(block)
    tokens.set(cid, token)
    return token
  }

  /** The key of another DID would have to be looked up. */
  const keyOf = (did: string): KeyObject | undefined => {
    const key = keys.has(did) || !isKeyDid(did) ? keys.get(did) : memory.keyOf(did)
    keys.set(did, key)
    return key
  }

  const isSigned: Proofs['isSigned'] = (token) => {
    const { cid, issuer } = token
    const known = signed.get(cid) ?? (memory.find(cid) === token ? true : undefined)
    if (known !== undefined) return known
    const key = keyOf(issuer === service.did ? service.keyDid : issuer)
    const isGood = key !== undefined && token.isSignedBy(key, work)
    signed.set(cid, isGood)
    return isGood
  }

  /** The one who had the right first is asked first: a stranger's tree falls with its topmost token. */
  const stands = (token: UnverifiedToken, authority: string): boolean =>
    (token.issuer === authority || under(token, authority).proofs.length > 0) && isSigned(token)

  const faultOf = (cid: string, child: UnverifiedToken, authority: string) => {
    const proof = read(cid)
    if (proof === undefined) return 'must be enclosed'
    if ('broken' in proof) return proof.broken
    if (proof.audience !== child.issuer) {
      return `must be for ${child.issuer}, found one for ${proof.audience}`
    }
    if (stands(proof, authority)) return proof
    return proof.issuer === authority || signed.has(cid)
      ? 'must be signed by its issuer'
      : `must rest on a delegation from ${authority}`
  }

  const under: Proofs['under'] = (token, authority) => {
    const name = `${authority} ${token.cid}`
    const known = footings.get(name)
    if (known !== undefined) return known
    const [proofs, faults]: [UnverifiedToken[], string[]] = [[], []]
    for (const cid of token.proofs) {
      const found = faultOf(cid, token, authority)
      if (typeof found === 'string') faults.push(`proof ${cid} ${found}`)
      else proofs.push(found)
    }
    const footing = { proofs, faults }
    footings.set(name, footing)
    return footing
  }

  return { read, isSigned, under }
}

/** What outlasts a message: delegations that were used by right, and the keys of those who did. */
export interface TokenMemory {
  find(cid: string): UnverifiedToken | undefined
  keyOf(did: string): KeyObject | undefined
  /** The chain must have been verified up to the service itself. */
  remember(chain: ProofChain): void
}

const NO_MEMORY: TokenMemory = { find: () => undefined, keyOf: keyOfDid, remember: () => {} }

/** Values in remembered delegations: some two thousand usual ones, and a few megabytes at most. */
const MAX_REMEMBERED_NODES = 32_768

/** Of the people who administer one service. Making a key takes as long as checking a signature with it. */
const MAX_REMEMBERED_KEYS = 1_000

/** Around its capabilities. */
const NODES_OF_A_TOKEN = 10

export const createTokenMemory = (): TokenMemory => {
  const tokens = new Map<string, UnverifiedToken>()
  const keys = new Map<string, KeyObject>()
  let nodes = 0
  return {
    find: (cid) => tokens.get(cid),
    keyOf: (did) => keys.get(did) ?? keyOfDid(did),
    remember: ([invocation, ...delegations]) => {
      const key = keys.has(invocation.issuer) ? undefined : keyOfDid(invocation.issuer)
      if (keys.size >= MAX_REMEMBERED_KEYS) keys.clear()
      if (key !== undefined) keys.set(invocation.issuer, key)
      for (const token of delegations) {
        if (tokens.has(token.cid)) continue
        nodes += token.weights.reduce((sum, weight) => sum + weight, NODES_OF_A_TOKEN)
        if (nodes > MAX_REMEMBERED_NODES) {
          tokens.clear()
          nodes = 0
        }
        tokens.set(token.cid, token)
      }
    },
  }
}
