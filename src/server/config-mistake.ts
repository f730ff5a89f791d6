/** The mistakes of those who set up a server, beyond those of its documents. */
import { HeadgateError, type Mistake } from '../core/index.ts'

/** Each has a heading in docs/reference/config.md. */
export const CONFIG_ERROR_CODES = [
  'CONFIG_FILE_UNREADABLE',
  'ENVIRONMENT_UNKNOWN',
  'OPTION_INVALID',
  'STORE_URL_INVALID',
  'STORE_UNSUPPORTED',
  'SPENDING_ON_MEMORY',
  'TOKEN_DUPLICATE',
  'TOKEN_REQUIRED',
  'LISTEN_PORT_IN_USE',
  'LISTEN_DENIED',
  'LISTEN_FAILED',
] as const

export type ConfigErrorCode = (typeof CONFIG_ERROR_CODES)[number]

export const refuseConfig = (mistake: Mistake<ConfigErrorCode>, cause?: unknown): never => {
  throw new HeadgateError(mistake, { cause })
}
