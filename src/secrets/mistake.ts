/** The mistakes that callers and operators of the secrets pillar can make. */
import { type ThrowMistake, throwMistake } from '../core/errors.ts'

/** Each has a heading in docs/reference/domains.md. */
export const SECRETS_ERROR_CODES = [
  'REQUEST_INVALID',
  'DOMAIN_INVALID',
  'EXPRESSION_INVALID',
  'SIGNER_STORE_VOLATILE',
  'SIGNER_SINGLE_KEY',
  'PHONE_ACCOUNTS_INVALID',
  'AUDIT_PAGE_INVALID',
] as const

export type SecretsErrorCode = (typeof SECRETS_ERROR_CODES)[number]

export const refuseSecret: ThrowMistake<SecretsErrorCode> = throwMistake

/** A field of a domain or of its options that breaks a bound of its kind. */
export const refuseDomain = (thing: string, rule: string, finding: string | number): never =>
  refuseSecret({ code: 'DOMAIN_INVALID', thing, rule, finding: String(finding) })
