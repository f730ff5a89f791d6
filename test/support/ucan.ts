import { hash } from 'node:crypto'
import * as UCAN from '@ipld/dag-ucan'
import { Delegation, invoke } from '@ucanto/core'
import type { Block, Delegation as DelegationView, Link, Signer } from '@ucanto/interface'
import { ed25519 } from '@ucanto/principal'
import { memory } from '../../src/stores/memory/index.ts'
import {
  CAR_TYPE,
  createUcanService,
  generateIdentity,
  type UcanService,
  type UcanServiceOptions,
} from '../../src/subjects/index.ts'
import { readArchive } from '../../src/subjects/ucan/archive.ts'
import { type ClientResult, readReceipt, writeMessage } from '../../src/subjects/ucan/message.ts'
import { createWorkMeter } from '../../src/subjects/ucan/work.ts'
import { pretendedCluster } from '../../src/testing/index.ts'

/** A key as the published packages make it: what comes from it owes nothing to our own code. */
export const newKey = (): Promise<Signer> => ed25519.generate()

export interface Stage {
  readonly service: UcanService
  readonly owner: Signer
  readonly agent: Signer
  readonly did: `did:${string}:${string}`
  /** How many signatures have been checked. */
  checks(): number
  grant(grant?: Grant): Promise<DelegationView>
  ask(question: Question): Promise<ClientResult>
}

interface Grant {
  readonly from?: Signer
  readonly to?: Signer
  readonly can?: `${string}/${string}`
  readonly with?: `${string}:${string}`
  readonly nb?: Record<string, unknown>
  readonly proofs?: readonly DelegationView[]
  readonly expiration?: number
  readonly notBefore?: number
}

export interface Question {
  readonly can: `${string}/${string}`
  readonly nb?: Record<string, unknown>
  readonly with?: `${string}:${string}`
  readonly by?: Signer
  readonly to?: { did(): `did:${string}:${string}` }
  readonly proofs?: readonly DelegationView[]
  readonly enclosed?: readonly Block[]
  readonly nonce?: string
  readonly expiration?: number
  readonly facts?: readonly Record<string, unknown>[]
}

let asked = 0

/** A service on a store of its own, its owner, and an agent who has no right yet. */
export const stage = async (options: Partial<UcanServiceOptions> = {}): Promise<Stage> => {
  const { identity = generateIdentity(), store = pretendedCluster(memory()) } = options
  let checks = 0
  const observe: UcanServiceOptions['observe'] = (event) => {
    if (event.kind === 'message') checks += event.work.verified
    options.observe?.(event)
  }
  const service = createUcanService({ ...options, store, identity, observe })
  const owner = ed25519.parse(identity.secret).withDID(identity.did)
  const agent = await newKey()
  return {
    service,
    owner,
    agent,
    did: identity.did,
    checks: () => checks,
    grant: ({ from = owner, to = agent, can = 'rate-limit/*', nb, proofs = [], ...rest } = {}) =>
      Delegation.delegate({
        issuer: from,
        audience: to,
        capabilities: [
          { can, with: rest.with ?? identity.did, ...(nb === undefined ? {} : { nb }) },
        ],
        proofs: [...proofs],
        expiration: rest.expiration ?? Number.POSITIVE_INFINITY,
        ...(rest.notBefore === undefined ? {} : { notBefore: rest.notBefore }),
      }),
    ask: async (question) => {
      const invocation = await invocationOf(question, agent, identity.did)
      return send(service, invocation, question.enclosed)
    },
  }
}

export const invocationOf = (
  question: Question,
  agent: Signer,
  did: `did:${string}:${string}`,
): Promise<DelegationView> => {
  asked += 1
  const { can, nb = {}, by = agent, to = { did: () => did }, proofs = [], ...rest } = question
  return Promise.resolve(
    invoke({
      issuer: by,
      audience: to,
      capability: { can, with: rest.with ?? did, nb },
      proofs: [...proofs],
      nonce: rest.nonce ?? `question ${asked}`,
      facts: [...(rest.facts ?? [])],
      ...(rest.expiration === undefined ? {} : { expiration: rest.expiration }),
    }).delegate(),
  )
}

/** Sends what was signed, as it stands, and reads the receipt. */
export const send = (
  service: UcanService,
  invocation: DelegationView,
  enclosed: readonly Block[] = [],
): Promise<ClientResult> =>
  sendBlocks(service, invocation.cid, [...enclosed, ...invocation.iterateIPLDBlocks()])

export const sendBlocks = async (
  service: UcanService,
  ran: Link,
  blocks: Iterable<Block>,
): Promise<ClientResult> => {
  const body = writeMessage([ran], blocks)
  const { status, body: reply } = await service.handle({ ...POST, body })
  if (status !== 200) throw new Error(`status ${status}: ${new TextDecoder().decode(reply)}`)
  const archive = readArchive(Uint8Array.from(reply), createWorkMeter())
  const receipt = 'broken' in archive ? undefined : readReceipt(archive, ran)
  if (receipt === undefined) throw new Error('no receipt for what was asked')
  return receipt.out
}

export const POST = { method: 'POST', headers: { 'content-type': CAR_TYPE, accept: CAR_TYPE } }

/** As the history names it. */
export const fingerprintOf = (delegation: DelegationView): string => {
  const text = UCAN.format(delegation.data)
  return hash('sha256', text.slice(0, text.lastIndexOf('.')), 'base64url')
}
