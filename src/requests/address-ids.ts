/** Ids that are an IP address or an IPv6 range: `ipAddress` and `ipv6RangeCIDR`. */
import { canonicalAddress, isIPv6, parseAddress } from '../net/addresses.ts'
import { maskIPv6, parsePrefix, reservedBy } from '../net/prefixes.ts'
import { fault, type Parsed } from './fault.ts'

export const parseIp = (text: string): Parsed => canonicalAddress(text) ?? ADDRESS_FAULT

export const parseRange = (text: string): Parsed => {
  const prefix = parsePrefix(text)
  if (prefix === undefined || prefix.bits !== 48 || !isIPv6(prefix.address)) return RANGE_FAULT
  const masked = maskIPv6(prefix.address, 48)
  return masked === `${prefix.address.toString()}/48`
    ? masked
    : fault(`must have no bits set beyond its /48 mask, which leaves ${masked}`)
}

/** Of an address or a prefix; undefined for any other text. */
export const reservedRangeOf = (text: string): string | undefined => {
  const address = parseAddress(text)
  const prefix = address ? { address, bits: isIPv6(address) ? 128 : 32 } : parsePrefix(text)
  return prefix && reservedBy(prefix)
}

const ADDRESS_FAULT = fault(
  'must be an IPv4 address in four decimal parts, or an IPv6 address without zone or mask',
)
const RANGE_FAULT = fault('must be an IPv6 range with a /48 mask, such as 2001:db8:1::/48')
