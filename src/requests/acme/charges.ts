/** What each step of an ACME server (RFC 8555) is charged: lists for the limiter, one batch each. */
import { isIPv6, parseIpAddress } from '../../net/addresses.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Identifier, Parts } from '../ids/parts.ts'
import { canonicalIdentifier, coveringIdentifier } from './identifiers.ts'
import type { BuiltInName } from './names.ts'

export interface AcmeCharge {
  readonly limit: BuiltInName
  readonly parts: Parts
  readonly mode: 'spend' | 'check' | 'try'
  readonly cost: number
}

/** A bucket to fill again; nothing is asked of it. */
export type AcmeReset = Pick<AcmeCharge, 'limit' | 'parts'>

type RegId = NonNullable<Parts['regId']>

export interface NewOrder {
  readonly regId: RegId
  readonly identifiers: readonly Identifier[]
  /** The same set was issued within 120 days: it is neither a new order nor a new certificate. */
  readonly renewal?: boolean
  /** Asked for by the server through renewal information (RFC 9773): nothing is charged. */
  readonly ari?: boolean
}

export interface Issuance {
  readonly regId: RegId
  readonly identifiers: readonly Identifier[]
}

export interface Validation {
  readonly regId: RegId
  readonly identifier: Identifier
}

export const newAccount = (ip: string): readonly AcmeCharge[] => {
  const address = parseIpAddress(ip)
  const range = address !== undefined && isIPv6(address)
  return [
    charge('NewRegistrationsPerIPAddress', { ip }, 'spend'),
    ...(range ? [charge('NewRegistrationsPerIPv6Range', { ip }, 'spend')] : []),
  ]
}

/**
 * Only the order itself is spent: failures and certificates are charged when they happen.
 *
 * @example
 * import { createLimiter, memory } from 'headgate'
 * import { ACME, newOrder } from 'headgate/acme'
 * import { parseCatalog } from 'headgate/yaml'
 *
 * const defaults = 'NewOrdersPerAccount: { burst: 300, count: 300, period: 3h }'
 * const catalog = parseCatalog({ vocabulary: ACME, defaults })
 * const limiter = createLimiter({ store: memory(), catalog: () => catalog })
 * const order = { regId: 1337, identifiers: [{ type: 'dns', value: 'www.example.com' }] } as const
 * console.log((await limiter.spend({ charges: newOrder(catalog, order) })).allowed)
 */
export const newOrder = (catalog: Catalog, order: NewOrder): readonly AcmeCharge[] => {
  if (order.ari === true) return []
  const { regId, identifiers, renewal = false } = order
  const failures = distinct(identifiers, (one) => canonicalIdentifier(one).value).map(
    (identifier) =>
      charge('FailedAuthorizationsPerDomainPerAccount', { regId, identifier }, 'check'),
  )
  const set = charge('CertificatesPerFQDNSet', { identifiers }, 'check')
  if (renewal) return [...failures, set]
  const certificates = distinct(identifiers, coveringIdentifier).map((identifier) =>
    hasOwnLimit(catalog, regId, identifier)
      ? charge('CertificatesPerDomainPerAccount', { regId, identifier }, 'check')
      : charge('CertificatesPerDomain', { identifier }, 'check'),
  )
  return [charge('NewOrdersPerAccount', { regId }, 'spend'), ...failures, ...certificates, set]
}

/** Never refused: the certificate exists. An account with its own limit counts in both. */
export const certificateIssued = (
  catalog: Catalog,
  { regId, identifiers }: Issuance,
): readonly AcmeCharge[] => [
  ...distinct(identifiers, coveringIdentifier).flatMap((identifier) => [
    charge('CertificatesPerDomain', { identifier }, 'try'),
    ...(hasOwnLimit(catalog, regId, identifier)
      ? [charge('CertificatesPerDomainPerAccount', { regId, identifier }, 'try')]
      : []),
  ]),
  charge('CertificatesPerFQDNSet', { identifiers }, 'try'),
]

/** Also for the deactivation of a pending authorization. A refusal means: pause this pair. */
export const failedValidation = (parts: Validation): readonly AcmeCharge[] => [
  charge('FailedAuthorizationsPerDomainPerAccount', parts, 'try'),
  charge('FailedAuthorizationsForPausingPerDomainPerAccount', parts, 'spend'),
]

/** One success shows that the client works: its way to being paused begins anew. */
export const successfulValidation = (parts: Validation): readonly AcmeReset[] => [
  { limit: 'FailedAuthorizationsForPausingPerDomainPerAccount', parts },
]

export const overrideRequest = (ip: string): readonly AcmeCharge[] => [
  charge('LimitOverrideRequestsPerIPAddress', { ip }, 'spend'),
]

const charge = (limit: BuiltInName, parts: Parts, mode: AcmeCharge['mode']): AcmeCharge => ({
  limit,
  parts,
  mode,
  cost: 1,
})

const hasOwnLimit = (catalog: Catalog, regId: RegId, identifier: Identifier): boolean =>
  catalog.resolve({ limit: 'CertificatesPerDomainPerAccount', parts: { regId, identifier } })
    .source === 'override'

/** The first of those that share a bucket: a batch with the same bucket twice is an error. */
function distinct(
  identifiers: readonly Identifier[],
  bucketOf: (identifier: Identifier) => string,
): readonly Identifier[] {
  const first = new Map<string, Identifier>()
  for (const identifier of identifiers) {
    const bucket = bucketOf(identifier)
    if (!first.has(bucket)) first.set(bucket, identifier)
  }
  return [...first.values()]
}
