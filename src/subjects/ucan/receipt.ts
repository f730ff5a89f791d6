/** Signed answers to invocations. Made at once and the same each time, so that a step can keep them. */
import * as Signature from '@ipld/dag-ucan/signature'
import { CBOR } from '@ucanto/core'
import type { Block, Link } from '@ucanto/interface'
import type { Value } from '../../core/index.ts'
import { blockOf, toBlock } from './blocks.ts'
import type { Identity } from './identity.ts'

export type Out =
  | { readonly ok: object }
  | { readonly error: { readonly name: string; readonly message: string } }

/** Longer texts are cut: what an attacker writes must not come back a hundred times as long. */
const MAX_MESSAGE = 1_000

export const issueReceipt = (identity: Identity, ran: Link, out: Out): Block => {
  const outcome = { ran, out: cut(out), fx: { fork: [] }, meta: {}, iss: identity.did, prf: [] }
  const raw = identity.sign(CBOR.encode(outcome))
  return toBlock({ ocm: outcome, sig: Signature.create(Signature.EdDSA, raw) })
}

export const encodeReceipt = ({ bytes }: Block): Value => Buffer.from(bytes).toString('base64')

export const decodeReceipt = (value: Value): Block =>
  blockOf(Uint8Array.from(Buffer.from(value, 'base64')))

function cut(out: Out): Out {
  if ('ok' in out) return out
  const { name, message } = out.error
  const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
  return { error: { name, message: short } }
}
