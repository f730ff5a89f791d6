/** A signer's answers, and how they look as CIP-40's JSON: `{success, version, error}` and more, for every status. */
import { type Span, toSeconds } from '../../core/time.ts'
import type { Conduct } from '../domains/domain-kind.ts'
import type { QuotaStatus } from '../rules/rule.ts'

export type SignerAnswer =
  | SignedAnswer
  | { readonly kind: 'status'; readonly status: QuotaStatus }
  | SignerRefusal

export interface SignedAnswer {
  readonly kind: 'signed'
  /** False for an exact retry, and where there is nothing to charge. */
  readonly charged: boolean
  readonly status: QuotaStatus
  readonly keyVersion: number
  readonly evaluation: Uint8Array
}

export interface SignerRefusal {
  readonly kind: 'refused'
  readonly reason: SignerRefusalReason
  /** For a person: the thing, the rule and the finding. Never a secret. */
  readonly message: string
  /** Where waiting helps. */
  readonly retryIn?: Span
  /** What the client may know of the domain once it is authenticated. */
  readonly status?: QuotaStatus
}

/** Each has a row in docs/reference/domains.md. */
export type SignerRefusalReason = keyof typeof REFUSAL_STATUSES

export const signerRefusal = (
  reason: SignerRefusalReason,
  message: string,
  more: Pick<SignerRefusal, 'retryIn' | 'status'> = {},
): SignerRefusal => ({ kind: 'refused', reason, message, ...more })

/** The HTTP status of each refusal, in the order of the checks; `celo` checks the nonce before whether the domain is disabled. */
export const REFUSAL_STATUSES = {
  REQUEST_TIMEOUT: { cip40: 408, celo: 408 },
  HEADERS_TOO_LARGE: { cip40: 431, celo: 431 },
  ROUTE_UNKNOWN: { cip40: 404, celo: 404 },
  METHOD_UNSUPPORTED: { cip40: 405, celo: 405 },
  OUTER_LIMIT: { cip40: 429, celo: 429 },
  BODY_TOO_LARGE: { cip40: 413, celo: 413 },
  DOMAIN_UNKNOWN: { cip40: 404, celo: 400 },
  ENDPOINT_UNSUPPORTED: { cip40: 404, celo: 400 },
  DOMAIN_DEPRECATED: { cip40: 410, celo: 400 },
  MALFORMED_REQUEST: { cip40: 400, celo: 400 },
  KEY_VERSION_INVALID: { cip40: 400, celo: 400 },
  CHAIN_DOWN: { cip40: 503, celo: 503 },
  CHAIN_BEHIND: { cip40: 503, celo: 503 },
  UNAUTHENTICATED: { cip40: 401, celo: 401 },
  CLOCK_UNTRUSTED: { cip40: 503, celo: 503 },
  DOMAIN_DISABLED: { cip40: 403, celo: 429 },
  NONCE_INVALID: { cip40: 401, celo: 401 },
  OVER_QUOTA: { cip40: 429, celo: 429 },
  SIGNER_BUSY: { cip40: 503, celo: 503 },
  EVALUATOR_DOWN: { cip40: 503, celo: 503 },
  STORE_DOWN: { cip40: 503, celo: 503 },
  SIGNER_FAULT: { cip40: 500, celo: 500 },
} as const satisfies Readonly<Record<string, Readonly<Record<Conduct, number>>>>

/** The codes that deployed clients know. Other reasons keep ours. */
const DEPLOYED_CODES: ReadonlyMap<SignerRefusalReason, string> = new Map([
  ['DOMAIN_UNKNOWN', 'CELO_ODIS_WARN_01'],
  ['ENDPOINT_UNSUPPORTED', 'CELO_ODIS_WARN_01'],
  ['DOMAIN_DEPRECATED', 'CELO_ODIS_WARN_01'],
  ['MALFORMED_REQUEST', 'CELO_ODIS_WARN_01'],
  ['KEY_VERSION_INVALID', 'CELO_ODIS_WARN_12'],
  ['UNAUTHENTICATED', 'CELO_ODIS_WARN_02'],
  ['DOMAIN_DISABLED', 'CELO_ODIS_WARN_03'],
  ['NONCE_INVALID', 'CELO_ODIS_WARN_16'],
  ['OVER_QUOTA', 'CELO_ODIS_WARN_03'],
  ['SIGNER_FAULT', 'CELO_ODIS_ERR_00'],
])

/** In a request: the key that the client asks for. In a response: the one that was used. */
export const KEY_VERSION_HEADER = 'odis-key-version'

export interface SignerResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** `version` is the software's, which every answer names. */
export const toResponse = (
  answer: SignerAnswer,
  conduct: Conduct,
  version: string,
): SignerResponse => {
  switch (answer.kind) {
    case 'signed': {
      const { evaluation, keyVersion, status } = answer
      const signature = Buffer.from(evaluation).toString('base64')
      const headers = { [KEY_VERSION_HEADER]: String(keyVersion) }
      return json(200, { success: true, version, signature, status }, headers)
    }
    case 'status':
      return json(200, { success: true, version, status: answer.status })
    case 'refused': {
      const { reason, message, retryIn, status } = answer
      const code = conduct === 'celo' ? (DEPLOYED_CODES.get(reason) ?? reason) : reason
      const body = { success: false, version, error: `${code} ${message}` }
      const headers =
        retryIn === undefined ? {} : { 'retry-after': String(Math.max(1, toSeconds(retryIn))) }
      const whole = status === undefined ? body : { ...body, status }
      return json(REFUSAL_STATUSES[reason][conduct], whole, headers)
    }
    default:
      return answer satisfies never
  }
}

function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): SignerResponse {
  const type = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) }
}
