/**
 * A change by invocation happens once: its receipt is kept in the same transaction, and whoever sends
 * the same invocation again gets that receipt. Kept as long as the invocation could be sent, which
 * is for ever if it never expires. Refusals are not kept: asking again is a new question.
 */
import type { Block, Link } from '@ucanto/interface'
import { answer, instant, type Plan, type View } from '../../core/index.ts'
import { receiptKey } from '../keys.ts'
import type { Chain } from './authorise.ts'
import type { Command } from './commands.ts'
import type { Identity } from './identity.ts'
import { decodeReceipt, encodeReceipt, issueReceipt } from './receipt.ts'

/** An invocation whose right was shown through this chain. */
export interface Attempt {
  readonly identity: Identity
  readonly chain: Chain
  readonly link: Link
}

export const changeOnce = (
  view: View,
  { identity, chain, link }: Attempt,
  command: Extract<Command, { kind: 'change' }>,
): Plan<{ readonly receipt: Block }> => {
  const [invocation, ...proofs] = chain
  const key = receiptKey(identity.did, invocation.fingerprint)
  const [kept] = view.read(key)
  if (kept !== undefined) return answer({ receipt: decodeReceipt(kept) })
  const { writes, appends, result } = command.run(view, {
    provider: identity.did,
    by: { issuer: invocation.issuer, chain: proofs.map(({ cid }) => cid) },
    cause: invocation.cid,
    // One invocation sets one rate at most, and nobody can send another with the same fingerprint.
    newId: invocation.fingerprint,
  })
  const receipt = issueReceipt(identity, link, result)
  if (!('ok' in result) || result.ok === undefined) return { writes, appends, result: { receipt } }
  const { expires } = invocation
  const expiry = expires === undefined ? {} : { expiresAt: instant(expires * 1_000_000) }
  const keep = { key, value: encodeReceipt(receipt), ...expiry }
  return { writes: [...writes, keep], appends, result: { receipt } }
}
