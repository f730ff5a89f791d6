/** What a queue of fees refuses, or cannot do. */
import { HeadgateError } from '../core/errors.ts'

export type QueueErrorCode =
  | 'QUEUE_FULL'
  | 'QUEUE_ITEM_TOO_LARGE'
  | 'QUEUE_CLOSED'
  | 'QUEUE_IN_USE'
  | 'QUEUE_UNAVAILABLE'

export const queueMistake = (
  code: QueueErrorCode,
  rule: string,
  finding: string,
  cause?: unknown,
) => new HeadgateError({ code, thing: 'the capture queue', rule, finding }, { cause })
