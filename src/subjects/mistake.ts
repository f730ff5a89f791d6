/** The two ways to say no about subjects: a mistake is thrown, a refusal is a value with its name on the wire. */
import { type ThrowMistake, throwMistake } from '../core/errors.ts'

export type SubjectErrorCode =
  | 'SUBJECT_INVALID'
  | 'SUBJECT_MATCHES_NOTHING'
  | 'SUBJECTS_TOO_MANY'
  | 'RATE_INVALID'
  | 'RATE_ID_INVALID'
  | 'RATE_NOTE_INVALID'
  | 'RATE_LIST_INVALID'
  | 'RATE_EXPIRY_INVALID'
  | 'RATE_FIELD_INVALID'
  | 'PAGE_INVALID'
  | 'PROVIDER_INVALID'
  | 'KEY_INVALID'
  | 'KEY_FILE_UNUSABLE'
  | 'PROOF_INVALID'
  | 'SERVICE_UNREACHABLE'
  | 'RECEIPT_INVALID'

export const refuseSubject: ThrowMistake<SubjectErrorCode> = throwMistake

export type RateRefusalName =
  /** No rate of this provider has that id, or it has expired. The protocol's own name. */
  | 'RateLimitsNotFound'
  /** A block would have been loosened, and `force` was not given. */
  | 'RateLimitLoosened'
  /** The subject stands for more than one owner has, such as `co.uk`, and `force` was not given. */
  | 'RateLimitTooWide'
  /** The subject already has the most rates that one may have. */
  | 'RateLimitsFull'

export interface RateRefusal<Name extends string = RateRefusalName> {
  readonly name: Name
  readonly message: string
}

export type RateResult<T, Name extends string = RateRefusalName> =
  | { readonly ok: T; readonly error?: undefined }
  | { readonly ok?: undefined; readonly error: RateRefusal<Name> }

export const ok = <T>(value: T): RateResult<T, never> => ({ ok: value })

export const refusal = <Name extends string>(
  name: Name,
  message: string,
): RateResult<never, Name> => ({ error: { name, message } })
