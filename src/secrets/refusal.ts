/** Every way in which a signer says no, and the status that each conduct gives it. */
import { type Span, seconds } from '../core/index.ts'
import type { Conduct } from './claim.ts'
import type { Status } from './rule.ts'

export interface Refusal {
  readonly kind: 'refused'
  readonly reason: RefusedBecause
  /** For a person: the thing, the rule and the finding. Never a secret. */
  readonly message: string
  /** Where waiting helps. */
  readonly retryIn?: Span
  /** What the client may know of the domain once it is authenticated. */
  readonly status?: Status
}

/** Each has a row in docs/reference/domains.md. */
export type RefusedBecause = keyof typeof STATUS

/** In the order of the checks; `celo` looks at the nonce before whether the domain is disabled. */
export const STATUS = {
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
  UNAUTHENTICATED: { cip40: 401, celo: 401 },
  DOMAIN_DISABLED: { cip40: 403, celo: 429 },
  NONCE_INVALID: { cip40: 401, celo: 401 },
  OVER_QUOTA: { cip40: 429, celo: 429 },
  SIGNER_BUSY: { cip40: 503, celo: 503 },
  STORE_DOWN: { cip40: 503, celo: 503 },
  SIGNER_FAULT: { cip40: 500, celo: 500 },
} as const satisfies Readonly<Record<string, Readonly<Record<Conduct, number>>>>

export const statusOf = (reason: RefusedBecause, conduct: Conduct): number =>
  STATUS[reason][conduct]

/** The codes that deployed clients know; what they do not know has none. */
export const deployedCode = (reason: RefusedBecause): string | undefined => DEPLOYED.get(reason)

const DEPLOYED: ReadonlyMap<RefusedBecause, string> = new Map([
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

export const refused = (
  reason: RefusedBecause,
  message: string,
  more: Pick<Refusal, 'retryIn' | 'status'> = {},
): Refusal => ({ kind: 'refused', reason, message, ...more })

/** How long to stay away when something here is unwell: a retry after a second hurts nobody. */
const UNWELL = seconds(1)

export const refuseBusy = (): Refusal =>
  refused('SIGNER_BUSY', 'the signer is busy', { retryIn: UNWELL })

/** Secrets are closed while the store is down, whatever the limit. */
export const refuseStoreDown = (): Refusal =>
  refused('STORE_DOWN', 'the store does not answer', { retryIn: UNWELL })
