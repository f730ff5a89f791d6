/** The form that the id of a limit has, for buckets and for overrides; and the forms that need no ACME. */
import { canonicalAddress, isIPv6, parseIpAddress } from '../../net/addresses.ts'
import { CLIENT_NETWORK_BITS, clientAddress, UNKNOWN_CLIENT } from '../../net/client-address.ts'
import { maskIPv6, networkStart, parsePrefix, reservedBy } from '../../net/prefixes.ts'
import type { PartsReader } from './parts.ts'

export const ID_FORMATS = [
  'client',
  'ipAddress',
  'ipv6RangeCIDR',
  'regId',
  'domain',
  'domainOrCIDR',
  'fqdnSet',
  'opaque',
  'regId:identifier',
  'regId:domainOrCIDR',
] as const

export type IdFormat = (typeof ID_FORMATS)[number]

/** Why a text is not an id. */
export interface Fault {
  /** Completes the sentence "the id …". */
  readonly rule: string
  /** Well-formed, but no request ever carries it: as an override it would only look like one. */
  readonly unmatchable?: true
}

/** An id in its one spelling, or why it is none. Plain text, so that the common case allocates nothing. */
export type Parsed = string | Fault

export const fault = (rule: string): Fault => ({ rule })

export const unmatchable = (rule: string): Fault => ({ rule, unmatchable: true })

export interface IdRules {
  /** From what a caller gives to the one spelling that its bucket key carries. Idempotent. */
  bucketId(text: string): Parsed
  /** The same spelling, but refuses what no request would ever carry. */
  overrideId(text: string): Parsed
  /** The override id under which a bucket finds its own limit. */
  overrideOf(bucketId: string): string
  /**
   * What a bucket shares its partition by, where that is less than its id: the account of a pair.
   * Absent: all of the id. A colon alone divides nothing: an address and a DID have colons too.
   */
  firstPart?(bucketId: string): string
  /** The addresses in an override, as prefixes, for the policy against reserved ones. */
  addressesIn(overrideText: string): readonly string[]
  /** The bucket id, built from the parts of a request. */
  fromParts(parts: PartsReader): string
}

/** Rules that are the same for buckets and for overrides. */
export const oneRule = (
  parse: (text: string) => Parsed,
  fromParts: IdRules['fromParts'],
  addressesIn: IdRules['addressesIn'] = () => [],
): IdRules => ({
  bucketId: parse,
  overrideId: parse,
  overrideOf: (id) => id,
  addressesIn,
  fromParts,
})

/** The reserved range that an override touches, if any. */
export const reservedRange = (rules: IdRules, overrideText: string): string | undefined => {
  for (const text of rules.addressesIn(overrideText)) {
    const range = reservedRangeOf(text)
    if (range !== undefined) return range
  }
  return undefined
}

/** Of an address or a prefix; undefined for any other text. */
export const reservedRangeOf = (text: string): string | undefined => {
  const address = parseIpAddress(text)
  const prefix = address ? { address, bits: isIPv6(address) ? 128 : 32 } : parsePrefix(text)
  return prefix && reservedBy(prefix)
}

/** Room for any key of an application; longer ids should be hashed by the application. */
export const MAX_OPAQUE_LENGTH = 512

const OPAQUE_FAULT = fault(
  `must be 1 to ${MAX_OPAQUE_LENGTH} characters of text without control characters`,
)

/** Taken as it is: neither case nor normal forms are folded. Lone surrogates have no bytes. */
const parseOpaque = (text: string): Parsed =>
  text !== '' && text.length <= MAX_OPAQUE_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(text)
    ? text
    : OPAQUE_FAULT

const ADDRESS_FAULT = fault(
  'must be an IPv4 address in four decimal parts, or an IPv6 address without zone or mask',
)
const RANGE_FAULT = fault('must be an IPv6 range with a /48 mask, such as 2001:db8:1::/48')

const ZONE_FAULT = unmatchable('must have no zone: it means something on one machine only')

const parseIp = (text: string): Parsed => canonicalAddress(text) ?? addressFault(text)

function addressFault(text: string): Fault {
  const [, address = ''] = /^(.+)%[^%]+$/.exec(text) ?? []
  return canonicalAddress(address)?.includes(':') === true ? ZONE_FAULT : ADDRESS_FAULT
}

const parseRange = (text: string): Parsed => {
  const prefix = parsePrefix(text)
  if (prefix === undefined || prefix.bits !== 48 || !isIPv6(prefix.address)) return RANGE_FAULT
  const masked = maskIPv6(prefix.address, 48)
  return masked === `${prefix.address.toString()}/48`
    ? masked
    : fault(`must have no bits set beyond its /48 mask, which leaves ${masked}`)
}

/** An override of these formats is an address or a range itself. */
export const itself = (text: string): readonly string[] => [text]

/**
 * Clients: an IPv4 address whole, an IPv6 address by its network of so many bits, which its client has
 * to itself. The id is the address, or the first address of the network.
 */
export const clientRules = (bits: number): IdRules => {
  const rule = `must be the address of a client, or an IPv6 range with a /${bits} mask`
  const broken = fault(rule)
  const parse = (text: string, fits: (mask: number) => boolean): Parsed => {
    if (text === UNKNOWN_CLIENT) return text
    if (!text.includes('/')) return clientAddress(text, bits) ?? broken
    const prefix = parsePrefix(text)
    if (prefix === undefined) return broken
    const { address, bits: mask } = prefix
    if (!isIPv6(address)) return mask === 32 ? address.toString() : broken
    if (!fits(mask)) return broken
    const start = networkStart(address, mask)
    if (start !== address.toString()) return fault(`${rule}, which leaves ${start}/${mask}`)
    return networkStart(address, bits)
  }
  return {
    // A narrower range is of one client too: a gate in front may count by another prefix.
    bucketId: (text) => parse(text, (mask) => mask >= bits),
    overrideId: (text) => parse(text, (mask) => mask === bits),
    overrideOf: (id) => id,
    addressesIn: (text) => [clientAddress(text, bits) ?? text],
    fromParts: (parts) => {
      const ip = parts.ip()
      return clientAddress(ip, bits) ?? ip
    },
  }
}

export const PLAIN_FORMATS = {
  client: clientRules(CLIENT_NETWORK_BITS),
  ipAddress: oneRule(parseIp, (parts) => parts.ip(), itself),
  ipv6RangeCIDR: oneRule(
    parseRange,
    (parts) => {
      const ip = parts.ip()
      const address = parseIpAddress(ip)
      if (address !== undefined && isIPv6(address)) return maskIPv6(address, 48)
      return parts.refuse('PARTS_UNSUPPORTED', 'parts.ip', 'needs an IPv6 address', ip)
    },
    itself,
  ),
  opaque: oneRule(parseOpaque, (parts) => {
    const rule = 'needs an id: an opaque one cannot be built from parts'
    return parts.refuse('PARTS_UNSUPPORTED', 'parts', rule, 'parts')
  }),
} as const satisfies { readonly [Format in IdFormat]?: IdRules }
