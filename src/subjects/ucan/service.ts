/**
 * The UCAN endpoint: a CAR with invocations comes in, a CAR with signed receipts goes out.
 *
 * Anyone may send one. Until a right is shown, nothing is written, nothing is remembered, and no more is
 * done than the budget of the message allows.
 */

import type { Block, Capability, Link } from '@ucanto/interface'
import { HeadgateError, quote, StoreError } from '../../core/errors.ts'
import { answer, type Commit, type Store, type View } from '../../core/store.ts'
import { days, type Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import { type RateResult, refusal } from '../mistake.ts'
import { receiptKey } from '../rates/rate-records.ts'
import { type AbilityAction, readAction } from './actions.ts'
import { CAR_TYPE, readArchive } from './archive.ts'
import { authorise, lifetimeFaults, type Unusable } from './authorise.ts'
import { isAbility, WHOLE_NAMESPACE } from './capabilities.ts'
import type { Identity } from './identity.ts'
import {
  decodeReceipt,
  encodeReceipt,
  type InvocationResult,
  issueReceipt,
  readMessage,
  writeReport,
} from './message.ts'
import {
  createTokenMemory,
  openProofs,
  type ProofChain,
  type Proofs,
  type TokenMemory,
} from './proofs.ts'
import { findRevoked, readRevocationTarget, revocationKeys } from './revocations.ts'
import { expiryOf, type UnverifiedToken } from './token.ts'
import { createWorkMeter, type UcanWork, WorkExceeded, type WorkMeter } from './work.ts'

export interface UcanRequest {
  readonly method: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
}

export interface UcanResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface UcanService {
  readonly did: string
  handle(request: UcanRequest): Promise<UcanResponse>
}

export interface UcanServiceOptions {
  readonly store: Store
  /** The provider: rates are kept under its DID, and every right over them begins with it. */
  readonly identity: Identity
  /** Called for every message, and for every failure of the store. Must not throw. */
  readonly observe?: (event: UcanEvent) => void
}

export type UcanEvent =
  /** What a message cost, however it was answered. */
  | { readonly kind: 'message'; readonly work: UcanWork }
  | { readonly kind: 'store-failure'; readonly error: unknown }

/** A batch of thirty invocations with their proofs takes some 40 kB. */
export const MAX_UCAN_MESSAGE_BYTES = 131_072

/** Invocations of one message: they run at the same time. */
const MAX_INVOCATIONS = 32

/**
 * Tries to find a chain none of whose tokens is revoked or expired. Each costs a transaction, and only who
 * has, or had, a right gets as far as that.
 */
const MAX_TRIES = 8

/** A change is remembered as long as its invocation could be sent again: not for ever. */
const MAX_INVOCATION_LIFETIME = days(7)

export const createUcanService = (options: UcanServiceOptions): UcanService => {
  const { store, identity, observe = () => {} } = options
  const onFailure = (error: unknown) => observe({ kind: 'store-failure', error })
  const memory = createTokenMemory()
  return {
    did: identity.did,
    handle: async ({ method, headers, body }) => {
      if (method !== 'POST') return plain(405, 'this endpoint takes POST', { allow: 'POST' })
      if (headers['content-type'] !== CAR_TYPE) {
        return plain(415, `the content-type must be ${CAR_TYPE}`, { accept: CAR_TYPE })
      }
      if (!takesCar(headers['accept'])) return plain(406, `the answer is ${CAR_TYPE}`)
      if (body.length > MAX_UCAN_MESSAGE_BYTES) {
        return plain(413, `the body must have at most ${MAX_UCAN_MESSAGE_BYTES} bytes`)
      }
      const work = createWorkMeter()
      try {
        return await answerMessage({ store, identity, onFailure, memory, work }, body)
      } finally {
        observe({ kind: 'message', work: work.spent() })
      }
    },
  }
}

/** What one message is answered with. */
interface MessageContext {
  readonly store: Store
  readonly identity: Identity
  readonly onFailure: (error: unknown) => void
  readonly memory: TokenMemory
  readonly work: WorkMeter
}

async function answerMessage(context: MessageContext, body: Uint8Array): Promise<UcanResponse> {
  const { identity, memory, work } = context
  const archive = readBody(body, work)
  if ('broken' in archive) return plain(400, archive.broken)
  const links = readMessage(archive.root)
  if (links === undefined) return plain(400, 'the root must be a ucanto/message@7.0.0')
  const asked = new Map(links.map((link) => [`${link}`, link]))
  if (asked.size > MAX_INVOCATIONS) {
    return plain(400, `a message may hold at most ${MAX_INVOCATIONS} invocations`)
  }
  const proofs = openProofs(archive.blocks, identity, work, memory)
  const receipts = await Promise.all(
    [...asked].map(async ([cid, link]) => {
      const receipt = await executeInvocation({ ...context, proofs }, link)
      return [cid, receipt] as const
    }),
  )
  const report = writeReport(new Map(receipts))
  return { status: 200, headers: { 'content-type': CAR_TYPE }, body: report }
}

function readBody(body: Uint8Array, work: WorkMeter): ReturnType<typeof readArchive> {
  try {
    // A plain array of its own: Node's buffers share memory that ucanto reads past the end of.
    return readArchive(Uint8Array.from(body), work)
  } catch (error) {
    if (error instanceof WorkExceeded) return { broken: error.message }
    throw error
  }
}

/** Absent means anything. Weights do not matter: there is one form. */
function takesCar(accept: string | readonly string[] | undefined): boolean {
  if (accept === undefined || accept === CAR_TYPE) return true
  const ranges = [accept].flat().join(',').split(',')
  const types = ranges.map((range) => range.split(';', 1).join('').trim().toLowerCase())
  return types.some((type) => type === '*/*' || type === 'application/*' || type === CAR_TYPE)
}

function plain(status: number, text: string, headers: Record<string, string> = {}): UcanResponse {
  const type = { 'content-type': 'text/plain; charset=utf-8' }
  return { status, headers: { ...type, ...headers }, body: new TextEncoder().encode(`${text}\n`) }
}

interface InvocationContext extends MessageContext {
  readonly proofs: Proofs
}

/**
 * One invocation, from its block to its receipt. The right is shown first, outside the store. Then one
 * transaction checks that nothing of the chain was revoked or has expired, does what was asked, and
 * keeps the receipt.
 */
const executeInvocation = async (context: InvocationContext, link: Link): Promise<Block> => {
  const receipt = (result: InvocationResult) => issueReceipt(context.identity, link, result)
  try {
    const prepared = prepare(context, link)
    return prepared.error ? receipt(prepared) : await perform(context, prepared.ok)
  } catch (error) {
    if (error instanceof StoreError) {
      context.onFailure(error)
      const message = 'the store is unavailable; asking again is safe'
      return receipt(refusal('HandlerExecutionError', message))
    }
    if (error instanceof WorkExceeded) return receipt(refusal('WorkExceeded', error.message))
    if (error instanceof HeadgateError) {
      return receipt(refusal('MalformedCapability', error.message))
    }
    throw error
  }
}

interface Prepared {
  readonly link: Link
  readonly token: UnverifiedToken
  readonly capability: Capability
  readonly action: AbilityAction
}

/** Everything that can be decided before the right is shown, and without the store. */
function prepare(
  { identity, proofs }: InvocationContext,
  link: Link,
): RateResult<Prepared, string> {
  const token = proofs.read(`${link}`)
  if (token === undefined || 'broken' in token) {
    const rule = token?.broken ?? 'must be enclosed'
    return refusal('Unauthorized', `the invocation ${link} ${rule}`)
  }
  const [capability, ...others] = token.capabilities
  if (capability === undefined || others.length > 0) {
    return refusal('InvocationCapabilityError', 'an invocation must name exactly one capability')
  }
  const { can } = capability
  if (!isAbility(can)) {
    const hint = can === WHOLE_NAMESPACE ? '; it can be delegated, but not invoked' : ''
    return refusal('HandlerNotFound', `this service has no ability ${quote(can)}${hint}`)
  }
  if (token.audience !== identity.did) {
    const message = `the audience must be ${identity.did}, found ${token.audience}`
    return refusal('InvalidAudience', message)
  }
  // Anyone may issue any right over a DID of their own; it is no right over this service.
  if (can !== 'ucan/revoke' && capability.with !== identity.did) {
    const message = `with must be this service, ${identity.did}, found ${capability.with}`
    return refusal('Unauthorized', message)
  }
  const target =
    can === 'ucan/revoke' ? readRevocationTarget(capability, proofs, identity.did) : undefined
  if (target?.error) return target
  const action = readAction({ ability: can, capability, token, target: target?.ok })
  return { ok: { link, token, capability, action } }
}

/** An invocation whose right was shown through this chain. */
interface ProvenInvocation {
  readonly identity: Identity
  readonly chain: ProofChain
  readonly link: Link
}

/** If the store knows a token of the chain as revoked or expired, searches for another chain. */
async function perform(context: InvocationContext, prepared: Prepared): Promise<Block> {
  const { store, identity, proofs, work, memory } = context
  const { link, token, capability, action } = prepared
  let unusable: Unusable = new Map()
  for (let tries = 1; ; tries++) {
    const { ok: chain, error } = authorise(token, capability, { proofs, work, unusable })
    if (error) return issueReceipt(identity, link, { error })
    const proven = { identity, chain, link }
    const guess = [
      ...revocationKeys(identity.did, chain),
      ...(action.kind === 'change' ? [receiptKey(identity.did, chain[0].fingerprint)] : []),
      ...(action.kind === 'page' ? [] : action.keys(identity.did)),
    ]
    const found = await store.transact(
      (view) => act(view, proven, action),
      guess,
      action.kind === 'change' ? undefined : 'look',
    )
    if ('unusable' in found) {
      unusable = new Map([...unusable, ...found.unusable])
      if (tries < MAX_TRIES) continue
      const message = `none of the ${MAX_TRIES} chains tried is valid now`
      return issueReceipt(identity, link, refusal('Unauthorized', message))
    }
    if (chain.at(-1)?.issuer === identity.did) memory.remember(chain)
    if ('receipt' in found) return found.receipt
    work.spend('pages', 1)
    return issueReceipt(identity, link, await found.page(store))
  }
}

type Finding =
  | { readonly receipt: Block }
  | { readonly unusable: Unusable }
  | { readonly page: (store: Store) => Promise<InvocationResult> }

/** The step: nothing can be revoked or expire between the check and the change. */
function act(view: View, proven: ProvenInvocation, action: AbilityAction): Commit<Finding> {
  const { identity, chain, link } = proven
  const late = lifetimeFaults(chain, view.now)
  if (late.size > 0) return answer({ unusable: late })
  const revoked = findRevoked(view, identity.did, chain)
  if (revoked !== undefined) {
    const reason = `Proof ${revoked.cid} has been revoked`
    return answer({ unusable: new Map([[revoked.cid, reason]]) })
  }
  switch (action.kind) {
    case 'look':
      return answer({ receipt: issueReceipt(identity, link, action.run(view, identity.did)) })
    case 'page': {
      const { now } = view
      return answer({ page: (store) => action.run(store, identity.did, now) })
    }
    case 'change':
      return changeOnce(view, proven, action)
    default:
      return action satisfies never
  }
}

/**
 * A change happens once: its receipt is kept in the same transaction, and the same invocation sent
 * again gets that receipt. It is kept as long as the invocation could be sent. What changed nothing is
 * not kept: asking again is a new question.
 */
function changeOnce(
  view: View,
  { identity, chain, link }: ProvenInvocation,
  action: Extract<AbilityAction, { kind: 'change' }>,
): Commit<{ readonly receipt: Block }> {
  const [invocation, ...proofs] = chain
  // The fingerprint digests all that was signed: another question cannot have this key.
  const key = receiptKey(identity.did, invocation.fingerprint)
  const [kept] = view.read(key)
  if (kept !== undefined) return answer({ receipt: decodeReceipt(kept) })
  const endless = lifetimeRefusal(invocation, view.now)
  if (endless !== undefined) return answer({ receipt: issueReceipt(identity, link, endless) })
  const { writes, appends, result } = action.run(view, {
    provider: identity.did,
    by: { issuer: invocation.issuer, chain: proofs.map(({ fingerprint }) => fingerprint) },
    cause: invocation.fingerprint,
    // One invocation sets one rate at most.
    newId: invocation.fingerprint,
  })
  const receipt = issueReceipt(identity, link, result)
  if (result.error || writes.length === 0) return { writes, appends, result: { receipt } }
  const memory = { key, value: encodeReceipt(receipt), ...expiryOf(invocation) }
  return { writes: [...writes, memory], appends, result: { receipt } }
}

/** What could be sent for ever would have to be remembered for ever, or could be done twice. */
function lifetimeRefusal(
  { expires }: UnverifiedToken,
  now: Instant,
): RateResult<never, 'LifetimeExceeded'> | undefined {
  const longest = inSeconds(now) + MAX_INVOCATION_LIFETIME / 1_000_000
  if (expires !== undefined && expires <= longest) return undefined
  const rule = 'an invocation that changes something must expire within seven days'
  return refusal('LifetimeExceeded', `${rule}, found ${expires ?? 'one that never does'}`)
}
