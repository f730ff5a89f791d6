/** The mistakes of those who hand bytes to the pOPRF. No message repeats the bytes themselves. */
import { HeadgateError, type Mistake } from '../../core/errors.ts'

/** Each has a heading in docs/reference/errors.md. */
export const POPRF_ERROR_CODES = [
  'POPRF_LENGTH_INVALID',
  'POPRF_SCALAR_INVALID',
  'POPRF_POINT_INVALID',
  'POPRF_EVALUATION_INVALID',
  'POPRF_INDEX_INVALID',
  'POPRF_INDEX_DUPLICATE',
  'POPRF_THRESHOLD_INVALID',
  'POPRF_POLYNOMIAL_INVALID',
  'POPRF_TAG_TOO_LONG',
  'POPRF_MESSAGE_TOO_LONG',
  'POPRF_PROOF_INVALID',
  'POPRF_UNVERIFIED',
] as const

export type PoprfErrorCode = (typeof POPRF_ERROR_CODES)[number]

export const refusePoprf = (mistake: Mistake<PoprfErrorCode>): never => {
  throw new HeadgateError(mistake)
}
