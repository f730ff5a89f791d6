/** The nine limits of an ACME server, with the numbers that their bucket keys carry. */
import type { BuiltInLimit } from '../catalog/definition.ts'

/**
 * The numbers are in every stored key: they must never change, and a number is never used again.
 * A new row also needs a sentence in denial.ts and, if an ACME flow charges it, a place in charges.ts.
 */
export const BUILT_IN_LIMITS = [
  { number: 1, name: 'NewRegistrationsPerIPAddress', idFormat: 'ipAddress' },
  { number: 2, name: 'NewRegistrationsPerIPv6Range', idFormat: 'ipv6RangeCIDR' },
  { number: 3, name: 'NewOrdersPerAccount', idFormat: 'regId' },
  { number: 4, name: 'FailedAuthorizationsPerDomainPerAccount', idFormat: 'regId:identifier' },
  { number: 5, name: 'CertificatesPerDomain', idFormat: 'domainOrCIDR' },
  { number: 6, name: 'CertificatesPerDomainPerAccount', idFormat: 'regId:domainOrCIDR' },
  { number: 7, name: 'CertificatesPerFQDNSet', idFormat: 'fqdnSet' },
  {
    number: 8,
    name: 'FailedAuthorizationsForPausingPerDomainPerAccount',
    idFormat: 'regId:identifier',
  },
  { number: 9, name: 'LimitOverrideRequestsPerIPAddress', idFormat: 'ipAddress' },
] as const satisfies readonly BuiltInLimit[]

export type BuiltInName = (typeof BUILT_IN_LIMITS)[number]['name']

export const isBuiltIn = (name: string): name is BuiltInName => BUILT_INS.has(name)

const BUILT_INS: ReadonlySet<string> = new Set(BUILT_IN_LIMITS.map(({ name }) => name))
