/** The address that a client counts by: an IPv4 address, or the start of its IPv6 /64. */
import { isIPv6, parseAddress } from '../../net/addresses.ts'
import { maskIPv6 } from '../../net/prefixes.ts'

/**
 * A client has a whole /64 of IPv6 to choose addresses from, so only the /64 can be limited. What is
 * no address stays as it is, for the catalog to refuse.
 */
export const clientAddress = (ip: string): string => {
  const address = parseAddress(ip)
  if (address === undefined) return ip
  return isIPv6(address) ? maskIPv6(address, 64).replace(/\/64$/, '') : address.toString()
}
