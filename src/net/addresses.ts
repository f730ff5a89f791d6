/** IP addresses, read strictly and written in one form: dotted decimal, or RFC 5952 for IPv6. */
import ipaddr from 'ipaddr.js'

/** Never an IPv4-mapped IPv6 address: that is the IPv4 address, or one client would have two buckets. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** The longest text of an IPv6 address, its last two groups in dotted decimal. */
const MAX_TEXT = 45

/** No zones, no brackets, no IPv4 in octal, hexadecimal or fewer than four parts. */
export const parseIpAddress = (text: string): IpAddress | undefined => {
  if (IPV4.test(text)) return ipaddr.IPv4.parse(text)
  if (text.length > MAX_TEXT || !IPV6_CHARACTERS.test(text)) return undefined
  const address = parseIPv6(withoutDots(text))
  return address?.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

export const isIPv6 = (address: IpAddress): address is ipaddr.IPv6 => address.kind() === 'ipv6'

/** Strict IPv4 has one spelling: the hot path ends at a regular expression. */
export const canonicalAddress = (text: string): string | undefined =>
  IPV4.test(text) ? text : parseIpAddress(text)?.toString()

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const IPV6_CHARACTERS = /^[0-9a-fA-F:.]+$/

/**
 * `::1.2.3.4` to `::102:304`. The library takes that form for IPv4-mapped, which RFC 4291 writes
 * `::ffff:1.2.3.4`, so it never sees a dot.
 */
function withoutDots(text: string): string {
  if (!text.includes('.')) return text
  const start = text.lastIndexOf(':') + 1
  const tail = text.slice(start)
  if (!IPV4.test(tail)) return text
  const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number)
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/** Not by `isValid` first: it parses too, and forgets what it found. */
function parseIPv6(groups: string): ipaddr.IPv6 | undefined {
  try {
    return ipaddr.IPv6.parse(groups)
  } catch {
    return undefined
  }
}
