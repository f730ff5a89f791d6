/** One evaluation on its way to an engine, checked as far as that costs next to nothing. */
import { checkBlindedMessage } from '../blinded-message.ts'
import { requireTag } from '../bounds.ts'
import type { Bytes } from '../bytes.ts'
import { decodeKeyShare, decodePrivateKey } from '../key-share.ts'
import type { EvaluationKey } from './evaluator.ts'

export interface Task {
  /** A copy of its own, which a thread can take over. */
  readonly key: EvaluationKey & { readonly secret: Uint8Array<ArrayBuffer> }
  readonly tag: Bytes
  readonly blindedMessage: Bytes
}

/**
 * Exact lengths, canonical numbers, an index that cannot wrap, no identity and no zero: all of which
 * the published library would let pass. Copies everything, so that the caller may wipe its own.
 */
export const checkedTask = (key: EvaluationKey, tag: Bytes, blindedMessage: Bytes): Task => {
  checkKey(key)
  return {
    key: { kind: key.kind, secret: Uint8Array.from(key.secret) },
    tag: Uint8Array.from(requireTag(tag)),
    blindedMessage: Uint8Array.from(checkBlindedMessage(blindedMessage)),
  }
}

function checkKey({ kind, secret }: EvaluationKey): void {
  switch (kind) {
    case 'single':
      decodePrivateKey(secret)
      return
    case 'share':
      decodeKeyShare(secret)
      return
    default:
      kind satisfies never
  }
}
