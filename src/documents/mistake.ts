/** The mistakes that a document can hold, whatever it is about. */
import { HeadgateError, type Mistake } from '../core/errors.ts'

export type DocumentErrorCode =
  | 'DOCUMENT_SYNTAX'
  | 'DOCUMENT_EMPTY'
  | 'DOCUMENT_MULTIPLE'
  | 'DOCUMENT_DUPLICATE_KEY'
  | 'DOCUMENT_ALIAS'
  | 'DOCUMENT_TOO_LARGE'
  | 'FIELD_UNKNOWN'
  | 'FIELD_MISSING'
  | 'FIELD_TYPE'
  | 'FIELD_VALUE'

export const refuse = (mistake: Mistake<DocumentErrorCode>): never => {
  throw new HeadgateError(mistake)
}
