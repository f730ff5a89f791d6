/** What answers blinded messages: the same small interface, whichever engine does the arithmetic. */
import type { Bytes } from '../bytes.ts'

/** `wasm`: the published library. `typescript`: our own. Both give the same bytes. */
export type EngineName = 'wasm' | 'typescript'

/** The whole key of 32 bytes, or a signer's share of 36. */
export interface EvaluationKey {
  readonly kind: 'single' | 'share'
  readonly secret: Bytes
}

export interface Load {
  readonly running: number
  readonly waiting: number
}

export interface Evaluator {
  /**
   * 1152 bytes for a single key, 1156 for a share. Rejects with a `HeadgateError` for what a client
   * got wrong and with an `EvaluatorError` for what it did not. Charges and remembers nothing.
   */
  evaluate(key: EvaluationKey, tag: Bytes, blindedMessage: Bytes): Promise<Bytes>

  load(): Load

  /** Finishes what was accepted. Later calls reject. */
  close(): Promise<void>
}
