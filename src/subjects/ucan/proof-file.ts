/** The CAR file in which a delegation is kept: read, shown to people, and compared with what is handed on. */
import { Delegation } from '@ucanto/core'
import type { Delegation as DelegationView } from '@ucanto/interface'
import type { Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import { refuseSubject } from '../mistake.ts'
import { type Archive, type ArchiveBlocks, MAX_BLOCKS, readArchive } from './archive.ts'
import { covers, derive } from './capabilities.ts'
import { decodeCbor, isBlockLink, ownField } from './cbor.ts'
import { isKeyDid, keyOfDid } from './ed25519.ts'
import { decodeToken, type UcanToken, type UnverifiedToken } from './token.ts'
import { createWorkMeter, WorkExceeded } from './work.ts'

/** As ucanto takes it: the delegation in a CAR file of `delegate`, or of another tool that writes ucanto's archives. */
export const readProof = (bytes: Uint8Array): DelegationView => {
  const { blocks, root } = openProof(bytes)
  return Delegation.importDAG([...blocks.values(), root])
}

/** The delegation itself, as fields. */
export const inspectProof = (bytes: Uint8Array): UcanToken => openProof(bytes).token

export interface InspectedProof {
  readonly token: UcanToken
  /** `unknown`: signed by a name, such as a did:web, whose key the file does not tell. */
  readonly signature: 'good' | 'bad' | 'unknown'
}

/** The delegation and, after it, every proof that the file holds, each once. */
export const inspectChain = async (bytes: Uint8Array): Promise<readonly InspectedProof[]> => {
  const { token: first, blocks } = openProof(bytes)
  const found = new Map<string, InspectedProof>()
  const pending = [first.cid]
  for (let cid = pending.shift(); cid !== undefined; cid = pending.shift()) {
    const token = tokenIn(blocks, cid)
    if (token === undefined || found.has(cid)) continue
    found.set(cid, { token, signature: checkSignature(token) })
    pending.push(...token.proofs)
  }
  return [...found.values()]
}

interface HandedOn {
  /** The DID that hands it on. */
  readonly from: string
  readonly can: string
  readonly provider: string
  readonly caveats: Readonly<Record<string, unknown>>
  readonly expiresAt: Instant | 'never'
}

/** Why a proof does not give the right to hand this on, a sentence each; none if it does. */
export const missingRights = (proof: Uint8Array, handed: HandedOn): readonly string[] => {
  const { audience, capabilities, expires } = inspectProof(proof)
  const { from, can, provider, caveats, expiresAt } = handed
  const able = capabilities.filter((held) => covers(held.can, can))
  const claim = { can, with: provider, nb: caveats }
  const faults = able.map((held) => derive(claim, held).error)
  const until = expiresAt === 'never' ? Number.POSITIVE_INFINITY : inSeconds(expiresAt)
  const found: string[] = []
  if (audience !== from) found.push(`it was handed to ${audience}, not to ${from}`)
  if (able.length === 0) {
    found.push(`it allows ${capabilities.map((held) => held.can).join(', ')}, not ${can}`)
  }
  if (able.length > 0 && faults.every((fault) => fault !== undefined)) {
    found.push(...new Set(faults.flatMap((fault) => (fault === undefined ? [] : [fault()]))))
  }
  if (expires !== undefined && expires < until) found.push('it ends before what is handed on')
  return found
}

interface OpenedProof {
  readonly token: UnverifiedToken
  readonly root: Archive['root']
  readonly blocks: ArchiveBlocks
}

/** `cid` names one of the proofs of the delegation in the file; by default it is that delegation itself. */
export const openProof = (bytes: Uint8Array, cid?: string): OpenedProof => {
  const archive = readFileBytes(Uint8Array.from(bytes))
  if ('broken' in archive) return refuseProof('must be a CAR with one delegation', archive.broken)
  const { blocks } = archive
  const link = ownField(decodeCbor(archive.root.bytes), 'ucan@0.9.1')
  const named = isBlockLink(link) ? (cid ?? `${link}`) : ''
  const [root, token] = [blocks.get(named), tokenIn(blocks, named)]
  if (root === undefined || token === undefined) {
    const rule = `must be the archive of a UCAN 0.9.1, of at most ${MAX_BLOCKS} blocks`
    return refuseProof(rule, cid === undefined ? 'another kind of CAR' : `one without ${cid}`)
  }
  return { token, root, blocks }
}

function readFileBytes(bytes: Uint8Array): Archive | { readonly broken: string } {
  try {
    return readArchive(bytes, createWorkMeter())
  } catch (error) {
    if (error instanceof WorkExceeded) return { broken: error.message }
    throw error
  }
}

function tokenIn(blocks: ArchiveBlocks, cid: string): UnverifiedToken | undefined {
  const block = blocks.get(cid)
  const token = block === undefined ? undefined : decodeToken(block)
  return token === undefined || 'broken' in token ? undefined : token
}

function checkSignature(token: UnverifiedToken): InspectedProof['signature'] {
  const key = isKeyDid(token.issuer) ? keyOfDid(token.issuer) : undefined
  if (key === undefined) return 'unknown'
  return token.isSignedBy(key, { spend: () => {} }) ? 'good' : 'bad'
}

function refuseProof(rule: string, finding: string): never {
  return refuseSubject({ code: 'PROOF_INVALID', thing: 'proof', rule, finding })
}
