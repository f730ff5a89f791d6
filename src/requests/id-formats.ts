/** The forms that the id of a limit can take, for buckets and for overrides. */
import { accountOf, parsePair, parsePairOverride, parseRegId } from './account-ids.ts'
import { parseIp, parseRange, reservedRangeOf } from './address-ids.ts'
import {
  fqdnSetMembers,
  parseDomainOrAddress,
  parseDomainOrPrefix,
  parseFqdnSet,
  parseRegisteredDomain,
} from './domain-ids.ts'
import { fault, type Parsed } from './fault.ts'
import { parseIdentifier } from './identifiers.ts'

export const ID_FORMATS = [
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

/** Room for any key of an application; longer ids should be hashed by whoever makes them. */
export const MAX_OPAQUE_LENGTH = 512

export interface IdRules {
  /** From what a caller gives to the one spelling that its bucket key carries. Idempotent. */
  bucketId(text: string): Parsed
  /** The same spelling, but refuses what no request would ever carry. */
  overrideId(text: string): Parsed
  /** The override id under which a bucket finds its own limit. */
  overrideOf(bucketId: string): string
  /** The addresses in an override, as prefixes, for the policy against reserved ones. */
  addressesIn(overrideText: string): readonly string[]
}

export const idRules = (format: IdFormat): IdRules => RULES[format]

/** The reserved range that an override touches, if any. */
export const reservedRange = (format: IdFormat, overrideText: string): string | undefined => {
  for (const text of RULES[format].addressesIn(overrideText)) {
    const range = reservedRangeOf(text)
    if (range !== undefined) return range
  }
  return undefined
}

const same = (id: string): string => id
const none = (_text: string): readonly string[] => []
const itself = (text: string): readonly string[] => [text]

const OPAQUE_FAULT = fault(
  `must be 1 to ${MAX_OPAQUE_LENGTH} characters of text without control characters`,
)

/** Taken as it is: neither case nor normal forms are folded. Lone surrogates have no bytes. */
const parseOpaque = (text: string): Parsed =>
  text !== '' && text.length <= MAX_OPAQUE_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(text)
    ? text
    : OPAQUE_FAULT

const identifierText = (text: string): Parsed => {
  const parsed = parseIdentifier(text, false)
  return 'rule' in parsed ? parsed : parsed.value
}

const oneRule = (parse: (text: string) => Parsed, addressesIn = none): IdRules => ({
  bucketId: parse,
  overrideId: parse,
  overrideOf: same,
  addressesIn,
})

const pair = (parseRest: (rest: string) => Parsed): IdRules => ({
  bucketId: (text) => parsePair(text, parseRest),
  overrideId: parsePairOverride,
  overrideOf: accountOf,
  addressesIn: none,
})

const RULES: Readonly<Record<IdFormat, IdRules>> = {
  ipAddress: oneRule(parseIp, itself),
  ipv6RangeCIDR: oneRule(parseRange, itself),
  regId: oneRule(parseRegId),
  domain: {
    ...oneRule((text) => parseRegisteredDomain(text, false)),
    overrideId: (text) => parseRegisteredDomain(text, true),
  },
  domainOrCIDR: {
    bucketId: parseDomainOrPrefix,
    overrideId: (text) => parseDomainOrAddress(text, true),
    overrideOf: same,
    addressesIn: itself,
  },
  fqdnSet: {
    bucketId: (text) => parseFqdnSet(text, false),
    overrideId: (text) => parseFqdnSet(text, true),
    overrideOf: same,
    addressesIn: (text) => {
      const members = fqdnSetMembers(text, true)
      return 'rule' in members ? [] : members.map(({ value }) => value)
    },
  },
  opaque: oneRule(parseOpaque),
  'regId:identifier': pair(identifierText),
  'regId:domainOrCIDR': pair(parseDomainOrPrefix),
}
