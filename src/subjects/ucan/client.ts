/** A client of a remote service of rates: asks with a key and the proofs of its right. */
import { randomUUID } from 'node:crypto'
import * as DID from '@ipld/dag-ucan/did'
import { invoke } from '@ucanto/core'
import type { Block, Delegation, DID as Did, Link } from '@ucanto/interface'
import { quote } from '../../core/errors.ts'
import type { Clock, Instant } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import { inSeconds } from '../../lib/moments.ts'
import { refuseSubject } from '../mistake.ts'
import { CAR_TYPE, REPLY_BOUNDS, readArchive } from './archive.ts'
import { isDid, isKeyDid } from './ed25519.ts'
import { type Identity, signerOf } from './identity.ts'
import { type ClientResult, isReceiptSignedBy, readReceipt, writeMessage } from './message.ts'
import { openProof, readProof } from './proof-file.ts'
import { openProofs } from './proofs.ts'
import { chainTo } from './revocations.ts'
import type { Ability } from './token.ts'

export interface RatesClient {
  readonly provider: string
  add(draft: WireDraft & { readonly force?: boolean }): Promise<ClientResult>
  set(
    draft: WireDraft & { readonly label: string; readonly force?: boolean },
  ): Promise<ClientResult>
  remove(id: string | readonly string[]): Promise<ClientResult>
  get(id: string): Promise<ClientResult>
  list(subject: string): Promise<ClientResult>
  query(question?: Readonly<Record<string, string | number>>): Promise<ClientResult>
  history(question?: Readonly<Record<string, string | number>>): Promise<ClientResult>
  /** Revokes the delegation in a proof file, or by CID one further up in it. Cannot be undone. */
  revoke(proof: Uint8Array, cid?: string): Promise<ClientResult>
}

/** Times are whole seconds since the epoch, as everywhere in UCAN. */
export interface WireDraft {
  readonly subject: string
  readonly rate: number
  readonly expires?: number
  readonly reason?: string
  readonly label?: string
}

export interface RatesClientOptions {
  /** Where the service takes POST, such as https://example.com/ucan. */
  readonly url: string
  readonly key: Identity
  /** CAR files as `delegate` makes them. None are needed with the service's own key. */
  readonly proofs?: readonly Uint8Array[]
  /** The DID of the service; by default the one that the first proof is about, or the key itself. */
  readonly provider?: string
  /** The did:key of a service that has another DID. Without it, TLS alone vouches for the receipts. */
  readonly serviceKey?: string
  readonly fetch?: typeof globalThis.fetch
  /** From which the lifetime of a question is counted; the system's unless told. */
  readonly clock?: Clock
}

/** A question that is still under way after this is not answered any more. As ucanto's clients have it. */
const QUESTION_LIFETIME_SECONDS = 30

export const createRatesClient = (options: RatesClientOptions): RatesClient => {
  const { key, clock = systemClock } = options
  const proofs = (options.proofs ?? []).map((proof) => readProof(proof))
  const provider = providerOf(options, proofs)
  const issuer = signerOf(key)

  const ask = async (
    can: Ability,
    nb: Readonly<Record<string, unknown>>,
    { over = provider, enclosed = [] }: { over?: Did; enclosed?: readonly Block[] } = {},
  ): Promise<ClientResult> => {
    const invocation = await invoke({
      issuer,
      audience: DID.parse(provider),
      capability: { can, with: over, nb },
      proofs: can === 'ucan/revoke' ? [] : proofs,
      expiration: inSeconds(clock()) + QUESTION_LIFETIME_SECONDS,
      // Without it, the same question twice within a second would be one question.
      nonce: randomUUID(),
    }).delegate()
    const body = writeMessage([invocation.cid], [...enclosed, ...invocation.iterateIPLDBlocks()])
    const reply = await post(options, body)
    return readReply(reply, invocation.cid, options.serviceKey ?? provider)
  }

  return {
    provider,
    add: (draft) => ask('rate-limit/add', { ...draft }),
    set: (draft) => ask('rate-limit/set', { ...draft }),
    remove: (id) => ask('rate-limit/remove', { id: typeof id === 'string' ? id : [...id] }),
    get: (id) => ask('rate-limit/get', { id }),
    list: (subject) => ask('rate-limit/list', { subject }),
    query: (question = {}) => ask('rate-limit/query', question),
    history: (question = {}) => ask('rate-limit/history', question),
    revoke: async (proof, cid) => {
      const opened = openProof(proof, cid)
      const service = { did: provider, keyDid: options.serviceKey ?? provider }
      const enclosed = neededBlocks(opened, key.did, service, clock())
      return ask('ucan/revoke', { ucan: opened.root.cid }, { over: key.did, enclosed })
    },
  }
}

/**
 * What shows that the revoker has a part in the delegation. Whoever made the file may have put in forged
 * proofs, so many that the service would give up: they stay here.
 */
function neededBlocks(
  { token, root, blocks }: ReturnType<typeof openProof>,
  revoker: string,
  { did: service, keyDid }: { readonly did: Did; readonly keyDid: string },
  now: Instant,
): readonly Block[] {
  if (revoker === service) return [root]
  // Without the key of the service nothing tells which of its grants are forged.
  if (!isKeyDid(keyDid)) return [...blocks.values()]
  const proofs = openProofs(blocks, { did: service, keyDid }, { spend: () => {} })
  const via = token.audience === revoker ? undefined : revoker
  const way = { service, proofs, via }
  // One that has expired shows nothing, if there is another.
  const chain = chainTo(token, { ...way, now }) ?? chainTo(token, way) ?? [token]
  return chain.flatMap(({ cid }) => blocks.get(cid) ?? [])
}

function providerOf({ provider, key }: RatesClientOptions, proofs: readonly Delegation[]): Did {
  const named = provider ?? proofs[0]?.capabilities[0]?.with ?? key.did
  if (isDid(named)) return named
  const rule = 'must be the DID of the service'
  return refuseSubject({ code: 'PROVIDER_INVALID', thing: 'provider', rule, finding: quote(named) })
}

async function post({ url, fetch = globalThis.fetch }: RatesClientOptions, body: Uint8Array) {
  const headers = { 'content-type': CAR_TYPE, accept: CAR_TYPE }
  const unreachable = (finding: string, cause?: unknown): never => {
    const rule = 'must be the address of a service that takes UCAN invocations'
    return refuseSubject({ code: 'SERVICE_UNREACHABLE', thing: url, rule, finding }, cause)
  }
  const noAnswer = (error: unknown) => unreachable('no answer', error)
  const request = { method: 'POST', headers, body: new Uint8Array(body) }
  const response = await fetch(url, request).catch(noAnswer)
  if (!response.ok) return unreachable(`status ${response.status}`)
  return new Uint8Array(await response.arrayBuffer().catch(noAnswer))
}

/** Nothing is believed before the receipt is known to be the service's own, and for this question. */
function readReply(body: Uint8Array, ran: Link, service: string): ClientResult {
  const archive = readArchive(Uint8Array.from(body), { spend: () => {} }, REPLY_BOUNDS)
  const receipt = 'broken' in archive ? undefined : readReceipt(archive, ran)
  if (receipt === undefined) return noReceipt('none')
  const isSigned = !isKeyDid(service) || isReceiptSignedBy(receipt, service)
  return isSigned ? receipt.out : noReceipt('one with another signature')
}

function noReceipt(finding: string): never {
  const rule = 'must hold a receipt for what was asked, signed by the service'
  return refuseSubject({ code: 'RECEIPT_INVALID', thing: 'the answer', rule, finding })
}
