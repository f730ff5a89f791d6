/** The ids of an ACME server: accounts, domain names, sets of names, and pairs of them. */
import { isIPv6, parseIpAddress } from '../../net/addresses.ts'
import { coveringPrefix, parsePrefix } from '../../net/prefixes.ts'
import { type Catalog, type CatalogSources, createCatalog } from '../catalog/catalog.ts'
import type { Vocabulary } from '../catalog/definition.ts'
import {
  fault,
  type IdFormat,
  type IdRules,
  itself,
  oneRule,
  type Parsed,
  PLAIN_FORMATS,
  unmatchable,
} from '../ids/id-format.ts'
import { type Identifier, type Parts, type PartsReader, partsReader } from '../ids/parts.ts'
import { nameFault, registeredDomain, suffixFault } from './domains.ts'
import {
  canonicalIdentifier,
  coveringIdentifier,
  fqdnSetHash,
  fqdnSetMembers,
  MAX_IDENTIFIERS,
  parseFqdnSet,
  parseIdentifier,
  withoutWildcard,
} from './identifiers.ts'
import { BUILT_IN_LIMITS } from './names.ts'

/** The canonical bucket id. `thing` is what messages call it. */
export const bucketIdFromParts = (format: IdFormat, parts: Parts, thing = 'the id'): string =>
  ACME_FORMATS[format].fromParts(partsReader(parts, thing))

/** Decimal, up to 2^64 − 1, without leading zeros: `007` would never equal the account 7. */
const parseRegId = (text: string): Parsed => {
  if (REG_ID.test(text) && (text.length < 20 || BigInt(text) <= MAX_REG_ID)) return text
  return /^0\d{1,20}$/.test(text) && BigInt(text) <= MAX_REG_ID ? LEADING_ZERO_FAULT : REG_ID_FAULT
}

/** `12345:example.com`. Split at the first colon only: an IPv6 address has colons of its own. */
const parsePair = (text: string, parseRest: (rest: string) => Parsed): Parsed => {
  const colon = text.indexOf(':')
  if (colon < 0) return fault('must be an account, a colon, and a domain name or IP address')
  const account = parseRegId(text.slice(0, colon))
  if (typeof account !== 'string') return account
  const rest = parseRest(text.slice(colon + 1))
  return typeof rest === 'string' ? `${account}:${rest}` : rest
}

/** Overrides are for a whole account: one for `12345:example.com` would never be looked up. */
const parsePairOverride = (text: string): Parsed => {
  if (!text.includes(':')) return parseRegId(text)
  const wellFormed = typeof parsePair(text, identifierText) === 'string'
  return wellFormed ? unmatchable(PAIR_OVERRIDE_RULE) : fault(PAIR_OVERRIDE_RULE)
}

const accountOf = (pair: string): string => pair.slice(0, pair.indexOf(':'))

const REG_ID = /^(?:0|[1-9]\d{0,19})$/
const MAX_REG_ID = 2n ** 64n - 1n
const REG_ID_RULE = 'must be an account number from 0 to 2^64-1 without leading zeros'
const REG_ID_FAULT = fault(REG_ID_RULE)
const LEADING_ZERO_FAULT = unmatchable(REG_ID_RULE)
const PAIR_OVERRIDE_RULE = 'must be an account number alone: overrides apply to an account'

/** `strict` for overrides: lower-case as written, below a public suffix. */
const parseRegisteredDomain = (text: string, strict: boolean): Parsed => {
  const written = strict ? text : text.toLowerCase()
  const name = withoutWildcard(written)
  const rule = nameFault(name) ?? (strict ? suffixFault(name) : undefined)
  if (rule !== undefined) return fault(rule)
  if (name !== written) return unmatchable('must be a registered domain, not a wildcard')
  const registered = registeredDomain(name)
  if (registered === name) return name
  return unmatchable(`must be a registered domain: certificates for it count as ${registered}`)
}

/** A registered domain, an IPv4 address, or the lowest address of an IPv6 /64. */
const parseDomainOrAddress = (text: string, strict: boolean): Parsed => {
  if (text.includes('/')) return fault('must be an address without a mask, or a registered domain')
  const address = parseIpAddress(text)
  if (address === undefined) return parseRegisteredDomain(text, strict)
  const covering = coveringPrefix(address)
  if (!isIPv6(address) || covering === `${address.toString()}/64`) return covering
  return fault(`must be the lowest address of its /64, which is ${covering.slice(0, -3)}`)
}

/** As above, and the prefix that results: what we print must be accepted when it comes back. */
const parseDomainOrPrefix = (text: string): Parsed => {
  const prefix = parsePrefix(text)
  if (prefix === undefined) return parseDomainOrAddress(text, false)
  const covering = coveringPrefix(prefix.address)
  if (covering === `${prefix.address.toString()}/${prefix.bits}`) return covering
  return fault('must be a /32 of IPv4 or a /64 of IPv6 without host bits')
}

const identifierText = (text: string): Parsed => {
  const parsed = parseIdentifier(text, false)
  return 'rule' in parsed ? parsed : parsed.value
}

const regIdOf = (parts: PartsReader): string => {
  const given = parts.need('regId')
  // A number beyond 2^53 has already lost its last digits.
  const exact = typeof given === 'string' || Number.isSafeInteger(given)
  const parsed = exact ? parseRegId(String(given)) : fault('must be exact: give it as text')
  if (typeof parsed === 'string') return parsed
  return parts.refuse('PARTS_INVALID', 'parts.regId', parsed.rule, JSON.stringify(given))
}

const identifiersOf = (parts: PartsReader): readonly Identifier[] => {
  const identifiers = parts.need('identifiers')
  const { length } = identifiers
  const rule = `needs 1 to ${MAX_IDENTIFIERS} identifiers`
  if (length === 0) return parts.refuse('PARTS_MISSING', 'parts.identifiers', rule, 'none')
  if (length <= MAX_IDENTIFIERS) return identifiers
  return parts.refuse('PARTS_INVALID', 'parts.identifiers', rule, `${length}`)
}

const domainOf = (parts: PartsReader): string => {
  const identifier = parts.need('identifier')
  if (identifier.type !== 'ip') return coveringIdentifier(identifier)
  const rule = 'needs a dns identifier'
  return parts.refuse('PARTS_UNSUPPORTED', 'parts.identifier', rule, 'an ip one')
}

const pair = (
  parseRest: (rest: string) => Parsed,
  restOf: (identifier: Identifier) => string,
): IdRules => ({
  bucketId: (text) => parsePair(text, parseRest),
  overrideId: parsePairOverride,
  overrideOf: accountOf,
  firstPart: accountOf,
  addressesIn: () => [],
  fromParts: (parts) => `${regIdOf(parts)}:${restOf(parts.need('identifier'))}`,
})

const ACME_FORMATS: Readonly<Record<IdFormat, IdRules>> = {
  ...PLAIN_FORMATS,
  regId: oneRule(parseRegId, regIdOf),
  domain: {
    ...oneRule((text) => parseRegisteredDomain(text, false), domainOf),
    overrideId: (text) => parseRegisteredDomain(text, true),
  },
  domainOrCIDR: {
    ...oneRule(
      parseDomainOrPrefix,
      (parts) => coveringIdentifier(parts.need('identifier')),
      itself,
    ),
    overrideId: (text) => parseDomainOrAddress(text, true),
  },
  fqdnSet: {
    ...oneRule(
      (text) => parseFqdnSet(text, false),
      (parts) => fqdnSetHash(identifiersOf(parts)),
      (text) => {
        const members = fqdnSetMembers(text, true)
        return 'rule' in members ? [] : members.map(({ value }) => value)
      },
    ),
    overrideId: (text) => parseFqdnSet(text, true),
  },
  'regId:identifier': pair(identifierText, (one) => canonicalIdentifier(one).value),
  'regId:domainOrCIDR': pair(parseDomainOrPrefix, coveringIdentifier),
}

/** Everything that ACME servers limit by: their ids, and the nine limits with their numbers. */
export const ACME: Vocabulary = { formats: ACME_FORMATS, builtIn: BUILT_IN_LIMITS }

/** A catalog in these words, as the service has it. */
export const buildCatalog = (sources: CatalogSources): Catalog => createCatalog(ACME, sources)
