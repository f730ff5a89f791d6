/**
 * What client and service send each other (ucanto/message@7.0.0): a message of invocations, and a
 * report of receipts, the signed answers to them.
 */
import * as Signature from '@ipld/dag-ucan/signature'
import { CBOR } from '@ucanto/core'
import type { Block, Link } from '@ucanto/interface'
import type { Value } from '../../core/store.ts'
import { type Archive, blockOf, toBlock, writeArchive } from './archive.ts'
import { decodeCbor, isBlockLink, isPlainLink, ownField } from './cbor.ts'
import { isSignedBy, keyOfDid } from './ed25519.ts'
import type { Identity } from './identity.ts'

const VERSION = 'ucanto/message@7.0.0'

/** The invocations that a message asks to execute; undefined if it is no message. */
export const readMessage = (root: Block): readonly Link[] | undefined => {
  const execute = ownField(ownField(decodeCbor(root.bytes), VERSION), 'execute')
  const isList = Array.isArray(execute) && execute.every(isBlockLink) && execute.every(isPlainLink)
  return isList ? execute : undefined
}

/** The CAR that asks; `blocks` hold the invocations and all they need. */
export const writeMessage = (invocations: readonly Link[], blocks: Iterable<Block>): Uint8Array => {
  const root = toBlock({ [VERSION]: { execute: invocations } })
  return writeArchive(root, [...blocks, root])
}

/** The CAR that answers a message: a receipt for each invocation, by its CID. */
export const writeReport = (receipts: ReadonlyMap<string, Block>): Uint8Array => {
  const report: Record<string, Block['cid']> = {}
  for (const [ran, { cid }] of receipts) report[ran] = cid
  const root = toBlock({ [VERSION]: { report } })
  return writeArchive(root, [...receipts.values(), root])
}

/** What an invocation came to: the ability's answer, or a refusal by name. */
export type InvocationResult =
  | { readonly ok: object; readonly error?: undefined }
  | { readonly ok?: undefined; readonly error: NamedRefusal }

interface NamedRefusal {
  readonly name: string
  readonly message: string
}

/** Longer texts are cut: what an attacker writes must not come back a hundred times as long. */
const MAX_MESSAGE = 1_000

/** Pure and synchronous, as signatures are deterministic: a step can keep what it issues. */
export const issueReceipt = (identity: Identity, ran: Link, result: InvocationResult): Block => {
  const out = shortened(result)
  const outcome = { ran, out, fx: { fork: [] }, meta: {}, iss: identity.did, prf: [] }
  const raw = identity.sign(CBOR.encode(outcome))
  return toBlock({ ocm: outcome, sig: Signature.create(Signature.EdDSA, raw) })
}

export const encodeReceipt = ({ bytes }: Block): Value => Buffer.from(bytes).toString('base64')

export const decodeReceipt = (value: Value): Block =>
  blockOf(Uint8Array.from(Buffer.from(value, 'base64')))

/** The service's answer as a client reads it. */
export type ClientResult =
  | { readonly ok: Readonly<Record<string, unknown>>; readonly error?: undefined }
  | { readonly ok?: undefined; readonly error: NamedRefusal }

interface ReceivedReceipt {
  readonly out: ClientResult
  readonly outcome: unknown
  readonly signature: Uint8Array
}

/** Undefined if the answer has none for this invocation, or none that can be read. */
export const readReceipt = ({ root, blocks }: Archive, ran: Link): ReceivedReceipt | undefined => {
  const link = findReceipt(root, ran)
  const block = link === undefined ? undefined : blocks.get(`${link}`)
  const receipt = block === undefined ? undefined : decodeCbor(block.bytes)
  const outcome = ownField(receipt, 'ocm')
  const signature = ownField(receipt, 'sig')
  const out = readOut(ownField(outcome, 'out'))
  if (out === undefined || !(signature instanceof Uint8Array)) return undefined
  return `${ownField(outcome, 'ran')}` === `${ran}` ? { out, outcome, signature } : undefined
}

export const isReceiptSignedBy = (
  { outcome, signature }: ReceivedReceipt,
  keyDid: string,
): boolean => {
  const key = keyOfDid(keyDid)
  const { code, raw } = Signature.view(Uint8Array.from(signature))
  return key !== undefined && code === Signature.EdDSA && isSignedBy(key, CBOR.encode(outcome), raw)
}

/** The receipt for an invocation, if the report has one. */
function findReceipt(root: Block, ran: Link): Link | undefined {
  const report = ownField(ownField(decodeCbor(root.bytes), VERSION), 'report')
  const receipt = ownField(report, `${ran}`)
  return isBlockLink(receipt) ? receipt : undefined
}

function shortened(result: InvocationResult): InvocationResult {
  if (result.error === undefined) return result
  const { name, message } = result.error
  const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
  return { error: { name, message: short } }
}

function readOut(out: unknown): ClientResult | undefined {
  const done = ownField(out, 'ok')
  if (typeof done === 'object' && done !== null) return { ok: { ...done } }
  const error = ownField(out, 'error')
  const [name, message] = [ownField(error, 'name'), ownField(error, 'message')]
  if (typeof name !== 'string' || typeof message !== 'string') return undefined
  return { error: { name, message } }
}
