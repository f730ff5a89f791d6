/** The mistakes of those who set up a server, beyond those of its documents. */
import { type ThrowMistake, throwMistake } from '../../core/errors.ts'

/** Each has a heading in docs/reference/config.md. */
export const CONFIG_ERROR_CODES = [
  'CONFIG_FILE_UNREADABLE',
  'CONFIG_NOT_FOUND',
  'ENVIRONMENT_UNKNOWN',
  'OPTION_INVALID',
  'STORE_URL_INVALID',
  'STORE_MAY_LOSE',
  'SPENDING_ON_MEMORY',
  'TOKEN_DUPLICATE',
  'TOKEN_REQUIRED',
  'LISTEN_PORT_IN_USE',
  'LISTEN_DENIED',
  'LISTEN_FAILED',
] as const

export type ConfigErrorCode = (typeof CONFIG_ERROR_CODES)[number]

export const refuseConfig: ThrowMistake<ConfigErrorCode> = throwMistake
