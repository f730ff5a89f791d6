/** Receipts as a client reads them: found, understood, and known to be the service's own. */
import * as Signature from '@ipld/dag-ucan/signature'
import { CBOR } from '@ucanto/core'
import type { Link } from '@ucanto/interface'
import type { Archive } from './blocks.ts'
import { isSignedBy, keyOfDid } from './ed25519.ts'
import { decode, findReceipt, own } from './message.ts'

/** The service's answer: what was asked for, or the refusal by its name. */
export type ClientResult =
  | { readonly ok: Readonly<Record<string, unknown>>; readonly error?: undefined }
  | { readonly ok?: undefined; readonly error: { readonly name: string; readonly message: string } }

export interface ReadReceipt {
  readonly out: ClientResult
  readonly outcome: unknown
  readonly signature: Uint8Array
}

/** Undefined if there is none for this invocation, or none that can be understood. */
export const readReceipt = ({ root, blocks }: Archive, ran: Link): ReadReceipt | undefined => {
  const link = findReceipt(root, ran)
  const block = link === undefined ? undefined : blocks.get(`${link}`)
  const receipt = block === undefined ? undefined : decode(block.bytes)
  const outcome = own(receipt, 'ocm')
  const signature = own(receipt, 'sig')
  const out = readOut(own(outcome, 'out'))
  if (out === undefined || !(signature instanceof Uint8Array)) return undefined
  return `${own(outcome, 'ran')}` === `${ran}` ? { out, outcome, signature } : undefined
}

export const verifyReceipt = ({ outcome, signature }: ReadReceipt, keyDid: string): boolean => {
  const key = keyOfDid(keyDid)
  const { code, raw } = Signature.view(Uint8Array.from(signature))
  return key !== undefined && code === Signature.EdDSA && isSignedBy(key, CBOR.encode(outcome), raw)
}

function readOut(out: unknown): ClientResult | undefined {
  const done = own(out, 'ok')
  if (typeof done === 'object' && done !== null) return { ok: { ...done } }
  const error = own(out, 'error')
  const [name, message] = [own(error, 'name'), own(error, 'message')]
  if (typeof name !== 'string' || typeof message !== 'string') return undefined
  return { error: { name, message } }
}
