/** Address prefixes in CIDR notation: the ranges that count as one client, and the reserved ones. */
import ipaddr from 'ipaddr.js'
import { type IpAddress, isIPv6, parseIpAddress } from './addresses.ts'

export interface Prefix {
  readonly address: IpAddress
  readonly bits: number
}

/** Host bits are kept: the caller decides whether they are a mistake. */
export const parsePrefix = (text: string): Prefix | undefined => {
  const slash = text.indexOf('/')
  const bits = text.slice(slash + 1)
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined
  // An IPv4-mapped address with a mask of 96 and more could be read in two ways, so it is refused.
  const address = parseIpAddress(text.slice(0, slash))
  if (address === undefined || (!isIPv6(address) && text.includes(':'))) return undefined
  return Number(bits) <= (isIPv6(address) ? 128 : 32) ? { address, bits: Number(bits) } : undefined
}

/** The prefix that an address belongs to. A /48 is what one subscriber typically gets, a /64 one network. */
export const maskIPv6 = (address: ipaddr.IPv6, bits: number): string =>
  `${networkStart(address, bits)}/${bits}`

/** The first address of the network that an address belongs to. */
export const networkStart = (address: IpAddress, bits: number): string => {
  const masked = (parts: readonly number[], width: number) =>
    parts.map((part, index) => {
      const hostBits = Math.min(width, Math.max(0, width * (index + 1) - bits))
      return (part >> hostBits) << hostBits
    })
  return isIPv6(address)
    ? new ipaddr.IPv6(masked(address.parts, 16)).toString()
    : new ipaddr.IPv4(masked(address.octets, 8)).toString()
}

/** What counts as one identifier: an IPv4 address, or a /64 of IPv6. */
export const coveringPrefix = (address: IpAddress): string =>
  isIPv6(address) ? maskIPv6(address, 64) : `${address.toString()}/32`

/** The most specific reserved prefix that shares addresses with this one, as a message names it. */
export const reservedBy = ({ address, bits }: Prefix): string | undefined => {
  let name: string | undefined
  let most = -1
  for (const reserved of parsedReserved()) {
    if (reserved.address.kind() !== address.kind() || reserved.bits <= most) continue
    if (!address.match(reserved.address, Math.min(bits, reserved.bits))) continue
    name = reserved.name
    most = reserved.bits
  }
  return name
}

interface Reserved extends Prefix {
  readonly name: string
}

let reserved: readonly Reserved[] | undefined

/** Parsed when first asked for: most catalogs leave the policy off. */
function parsedReserved(): readonly Reserved[] {
  reserved ??= RESERVED_PREFIXES.map(([text, name]) => {
    const [address, bits] = ipaddr.parseCIDR(text)
    return { address, bits, name: `${text} (${name})` }
  })
  return reserved
}

/**
 * The special-purpose prefixes of IPv4 and IPv6 (IANA registries, RFC 6890): no client on the public
 * internet has such an address. Multicast is not in those registries, and so not here.
 */
const RESERVED_PREFIXES: readonly (readonly [prefix: string, name: string])[] = [
  ['0.0.0.0/8', 'This network'],
  ['0.0.0.0/32', 'This host on this network'],
  ['10.0.0.0/8', 'Private-Use'],
  ['100.64.0.0/10', 'Shared Address Space'],
  ['127.0.0.0/8', 'Loopback'],
  ['169.254.0.0/16', 'Link Local'],
  ['172.16.0.0/12', 'Private-Use'],
  ['192.0.0.0/24', 'IETF Protocol Assignments'],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix'],
  ['192.0.0.8/32', 'IPv4 dummy address'],
  ['192.0.0.9/32', 'Port Control Protocol Anycast'],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast'],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery'],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery'],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1)'],
  ['192.31.196.0/24', 'AS112-v4'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)'],
  ['192.88.99.2/32', '6a44-relay anycast address'],
  ['192.168.0.0/16', 'Private-Use'],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service'],
  ['198.18.0.0/15', 'Benchmarking'],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2)'],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3)'],
  ['240.0.0.0/4', 'Reserved'],
  ['255.255.255.255/32', 'Limited Broadcast'],
  ['::1/128', 'Loopback Address'],
  ['::/128', 'Unspecified Address'],
  ['::ffff:0:0/96', 'IPv4-mapped Address'],
  ['64:ff9b::/96', 'IPv4-IPv6 Translation'],
  ['64:ff9b:1::/48', 'IPv4-IPv6 Translation'],
  ['100::/64', 'Discard-Only Address Block'],
  ['100:0:0:1::/64', 'Dummy IPv6 Prefix'],
  ['2001::/23', 'IETF Protocol Assignments'],
  ['2001::/32', 'TEREDO'],
  ['2001:1::1/128', 'Port Control Protocol Anycast'],
  ['2001:1::2/128', 'Traversal Using Relays around NAT Anycast'],
  ['2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast'],
  ['2001:2::/48', 'Benchmarking'],
  ['2001:3::/32', 'AMT'],
  ['2001:4:112::/48', 'AS112-v6'],
  ['2001:10::/28', 'Deprecated (previously ORCHID)'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'Drone Remote ID Protocol Entity Tags (DETs) Prefix'],
  ['2001:db8::/32', 'Documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'Direct Delegation AS112 Service'],
  ['3fff::/20', 'Documentation'],
  ['5f00::/16', 'Segment Routing (SRv6) SIDs'],
  ['fc00::/7', 'Unique-Local'],
  ['fe80::/10', 'Link-Local Unicast'],
]
