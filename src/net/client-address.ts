/** The address that a client counts by: an IPv4 address, or the start of its IPv6 network. */
import { canonicalAddress, isIPv6, parseIpAddress } from './addresses.ts'
import { networkStart } from './prefixes.ts'

/** What one network of IPv6 gets: a client has all its addresses to choose from, so only it can be limited. */
export const CLIENT_NETWORK_BITS = 64

/** Narrower than a /64 would give one client many buckets; wider than a /32 is a whole provider. */
export const CLIENT_NETWORK_RANGE = { min: 32, max: CLIENT_NETWORK_BITS }

/** Whom a request counts as if its address is not known: all such requests share one bucket. */
export const UNKNOWN_CLIENT = 'unknown'

/** In any spelling that sockets and proxies use. Undefined for what is no address. */
export const clientAddress = (text: string, bits = CLIENT_NETWORK_BITS): string | undefined => {
  // Sockets that take both families show IPv4 clients so, and a regular expression knows them.
  const plain = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text
  const quick = plain.includes(':') ? undefined : canonicalAddress(plain)
  if (quick !== undefined) return quick
  const address = parseIpAddress(bareAddress(text))
  if (address === undefined) return undefined
  return isIPv6(address) ? networkStart(address, bits) : address.toString()
}

/** Addresses come with spaces, ports, brackets and zones; none of them tells clients apart. */
export const bareAddress = (text: string): string => {
  const address = text.trim()
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? []
  return (bracketed ?? dotted ?? address).replace(/%.*$/, '')
}

const MAPPED = '::ffff:'
