/** The sentence that tells a subscriber which limit was reached, and when to come back. */
import { formatDuration } from '../../core/duration.ts'
import { assert } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'
import type { Bucket } from '../catalog/definition.ts'
import { type BuiltInName, isBuiltIn } from './names.ts'

/** `linkBase` is the page that explains the limits, up to its `#`; without it nothing is linked. */
export const describeDenial = (
  bucket: Omit<Bucket, 'tag'>,
  retryAt: Instant,
  linkBase?: string,
): string => {
  const { definition, id, limit } = bucket
  assert(limit !== undefined, 'a limit that is not in force denies nothing')
  const { what, where, anchor } = isBuiltIn(definition.name)
    ? SENTENCES[definition.name]
    : declared(definition.name)
  const when = `in the last ${formatDuration(limit.period)}, retry after ${utcSecond(retryAt)}`
  const see = linkBase === undefined || anchor === undefined ? '' : `: see ${linkBase}#${anchor}`
  return `too many ${what} (${limit.burst}) ${where(id)} ${when}${see}`
}

interface Sentence {
  readonly what: string
  readonly where: (id: string) => string
  /** Absent: the page has no section for it. */
  readonly anchor?: string
}

const fromAddress = () => 'from this IP address'
const issuedFor = (id: string) => `already issued for "${id}"`
/** All that follows the account: an IPv6 address has colons of its own. */
const identifierOf = (id: string) => id.slice(id.indexOf(':') + 1)

const SENTENCES: Readonly<Record<BuiltInName, Sentence>> = {
  NewRegistrationsPerIPAddress: {
    what: 'new registrations',
    where: fromAddress,
    anchor: 'new-registrations-per-ip-address',
  },
  NewRegistrationsPerIPv6Range: {
    what: 'new registrations',
    where: () => 'from this /48 subnet of IPv6 addresses',
    anchor: 'new-registrations-per-ipv6-range',
  },
  NewOrdersPerAccount: {
    what: 'new orders',
    where: () => 'from this account',
    anchor: 'new-orders-per-account',
  },
  FailedAuthorizationsPerDomainPerAccount: {
    what: 'failed authorizations',
    where: (id) => `for "${identifierOf(id)}"`,
    anchor: 'authorization-failures-per-identifier-per-account',
  },
  CertificatesPerDomain: {
    what: 'certificates',
    where: issuedFor,
    anchor: 'new-certificates-per-registered-domain',
  },
  CertificatesPerDomainPerAccount: {
    what: 'certificates',
    where: (id) => issuedFor(identifierOf(id)),
    anchor: 'new-certificates-per-registered-domain',
  },
  CertificatesPerFQDNSet: {
    what: 'certificates',
    where: () => 'already issued for this exact set of identifiers',
    anchor: 'new-certificates-per-exact-set-of-identifiers',
  },
  FailedAuthorizationsForPausingPerDomainPerAccount: {
    what: 'failed authorizations',
    where: (id) => `for "${identifierOf(id)}"`,
  },
  LimitOverrideRequestsPerIPAddress: {
    what: 'override request form submissions',
    where: fromAddress,
    // The page has no section of its own for this limit; this is the nearest.
    anchor: 'new-registrations-per-ip-address',
  },
}

const declared = (name: string): Sentence => ({
  what: 'requests',
  where: (id) => `for "${id}" under ${name}`,
})

/** `2024-01-01 00:00:05 UTC`, rounded up: then is never too early. */
function utcSecond(point: Instant): string {
  const iso = new Date(Math.ceil(point / 1_000_000) * 1_000).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}
