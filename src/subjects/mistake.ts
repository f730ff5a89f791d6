/** The mistakes one can make with subjects, rates, keys and proofs. */
import { HeadgateError, type Mistake } from '../core/index.ts'

export type SubjectErrorCode =
  | 'SUBJECT_INVALID'
  | 'SUBJECTS_TOO_MANY'
  | 'RATE_INVALID'
  | 'RATE_ID_INVALID'
  | 'RATE_NOTE_INVALID'
  | 'RATE_EXPIRY_INVALID'
  | 'RATE_FIELD_INVALID'
  | 'PAGE_INVALID'
  | 'PROVIDER_INVALID'
  | 'KEY_INVALID'
  | 'KEY_FILE_UNUSABLE'
  | 'PROOF_INVALID'
  | 'SERVICE_UNREACHABLE'
  | 'RECEIPT_INVALID'

export const refuse = (mistake: Mistake<SubjectErrorCode>, options?: ErrorOptions): never => {
  throw new HeadgateError(mistake, options)
}

/** Longer findings are cut: a message is read by a person. */
const MAX_FINDING = 80

export const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_FINDING ? `${text.slice(0, MAX_FINDING)}…` : text)
