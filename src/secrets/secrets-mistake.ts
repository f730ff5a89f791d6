/** The mistakes that callers and operators of the secrets pillar can make. */
import { HeadgateError, type Mistake } from '../core/index.ts'

/** Each has a heading in docs/reference/domains.md. */
export const SECRETS_ERROR_CODES = [
  'REQUEST_INVALID',
  'DOMAIN_INVALID',
  'EXPRESSION_INVALID',
  'SIGNER_STORE_VOLATILE',
  'SIGNER_SINGLE_KEY',
] as const

export type SecretsErrorCode = (typeof SECRETS_ERROR_CODES)[number]

export const refuseSecret = (mistake: Mistake<SecretsErrorCode>): never => {
  throw new HeadgateError(mistake)
}
