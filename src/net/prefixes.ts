/** Address prefixes in CIDR notation: the ranges that count as one client, and the reserved ones. */
import ipaddr from 'ipaddr.js'
import { type Address, isIPv6, parseAddress } from './addresses.ts'
import { RESERVED_PREFIXES } from './reserved-prefixes.ts'

export interface Prefix {
  readonly address: Address
  readonly bits: number
}

/** A /48 is what one IPv6 subscriber typically gets, a /64 what one network gets. Whole groups of 16. */
export type IPv6Mask = 48 | 64

/** Host bits are kept: whoever asks decides whether they are a mistake. */
export const parsePrefix = (text: string): Prefix | undefined => {
  const slash = text.indexOf('/')
  const bits = text.slice(slash + 1)
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined
  // An IPv4-mapped address with a mask of 96 and more could be read in two ways: it is read in none.
  const address = parseAddress(text.slice(0, slash))
  if (address === undefined || (!isIPv6(address) && text.includes(':'))) return undefined
  return Number(bits) <= (isIPv6(address) ? 128 : 32) ? { address, bits: Number(bits) } : undefined
}

/** The prefix that an address belongs to. */
export const maskIPv6 = (address: ipaddr.IPv6, mask: IPv6Mask): string => {
  const groups = address.parts.map((group, index) => (index < mask / 16 ? group : 0))
  return `${new ipaddr.IPv6(groups).toString()}/${mask}`
}

/** What counts as one identifier: an IPv4 address, or a /64 of IPv6. */
export const coveringPrefix = (address: Address): string =>
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
