/** The mistakes of those who keep keys. No message repeats a byte of a key or of what encrypts it. */
import { HeadgateError, type Mistake } from '../../core/errors.ts'

/** Each has a heading in docs/reference/errors.md. */
export const KEY_ERROR_CODES = [
  'KEY_SECRET_UNREADABLE',
  'KEY_SECRET_INVALID',
  'KEY_DIRECTORY_UNREADABLE',
  'KEY_DIRECTORY_EMPTY',
  'KEY_DIRECTORY_FULL',
  'KEY_FILE_INVALID',
  'KEY_FILE_EXPOSED',
  'KEY_FORMAT_UNKNOWN',
  'KEY_PURPOSE_WRONG',
  'KEY_UNDECIPHERABLE',
  'KEY_INCONSISTENT',
  'KEY_VERSION_INVALID',
  'KEY_VERSION_EXISTS',
  'KEY_VERSION_UNKNOWN',
] as const

export type KeyErrorCode = (typeof KEY_ERROR_CODES)[number]

export const refuseKey = (mistake: Mistake<KeyErrorCode>): never => {
  throw new HeadgateError(mistake)
}
