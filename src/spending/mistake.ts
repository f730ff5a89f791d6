/** Mistakes of callers and operators of spending, each with a stable code. Refusals are not here: they are answers. */
import { HeadgateError } from '../core/errors.ts'

export type SpendingErrorCode =
  | 'AMOUNT_INVALID'
  | 'ADDRESS_INVALID'
  | 'IP_INVALID'
  | 'OPERATION_INVALID'
  | 'NOTE_INVALID'
  | 'PAYER_INVALID'
  | 'WINDOW_INVALID'
  | 'ROLLOVER_INVALID'
  | 'OPERATION_ID_INVALID'
  | 'OPERATION_ID_REUSED'
  | 'HOLD_NOT_FOUND'
  | 'HOLD_CLOSED'
  | 'HOLD_CONFLICT'
  | 'SETTLEMENT_CONFLICT'
  | 'PLAN_ID_INVALID'
  | 'PLAN_NOT_FOUND'
  | 'PLAN_EXISTS'
  | 'PLAN_IN_FILE'
  | 'LINK_INVALID'
  | 'LINK_IN_FILE'
  | 'LINK_TAKEN'
  | 'LINK_NOT_FOUND'
  | 'GRANT_INVALID'
  | 'GRANTS_TOO_MANY'
  | 'COMPACTION_TOO_SOON'

export const mistake = (
  code: SpendingErrorCode,
  thing: string,
  rule: string,
  finding?: string,
): HeadgateError<SpendingErrorCode> => new HeadgateError({ code, thing, rule, finding })

/** A message is read by a person: long findings are cut. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text)

const MAX_QUOTE = 80
