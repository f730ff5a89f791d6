/** What passes between the pool and a worker: a task one way, an outcome the other. */
import type { Mistake } from '../../../core/errors.ts'
import type { Bytes } from '../bytes.ts'
import type { PoprfErrorCode } from '../poprf-mistake.ts'

/** A class would not survive the passage, so a refusal travels as what it says. */
export type WorkerReply =
  | { readonly kind: 'response'; readonly response: Bytes }
  | { readonly kind: 'refusal'; readonly mistake: Mistake<PoprfErrorCode> }
