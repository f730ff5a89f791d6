/** Ids that are domain names, alone or beside addresses: `domain`, `domainOrCIDR` and `fqdnSet`. */
import { isIPv6, parseAddress } from '../net/addresses.ts'
import { coveringPrefix, parsePrefix } from '../net/prefixes.ts'
import { nameFault, registeredDomain, suffixFault } from './domains.ts'
import { type Fault, fault, type Parsed } from './fault.ts'
import { hashCanonical, type Identifier, MAX_IDENTIFIERS, parseIdentifier } from './identifiers.ts'

/** `strict` for overrides: lower-case as written, below a public suffix. */
export const parseRegisteredDomain = (text: string, strict: boolean): Parsed => {
  const name = strict ? text : text.toLowerCase()
  if (name.startsWith('*.')) return fault('must be a registered domain, not a wildcard')
  const rule = nameFault(name) ?? (strict ? suffixFault(name) : undefined)
  if (rule !== undefined) return fault(rule)
  const registered = registeredDomain(name)
  if (registered === name) return name
  return fault(`must be a registered domain: certificates for it count as ${registered}`)
}

/** A registered domain, an IPv4 address, or the lowest address of an IPv6 /64. */
export const parseDomainOrAddress = (text: string, strict: boolean): Parsed => {
  if (text.includes('/')) return fault('must be an address without a mask, or a registered domain')
  const address = parseAddress(text)
  if (address === undefined) return parseRegisteredDomain(text, strict)
  const covering = coveringPrefix(address)
  if (!isIPv6(address) || covering === `${address.toString()}/64`) return covering
  return fault(`must be the lowest address of its /64, which is ${covering.slice(0, -3)}`)
}

/** As above, and the prefix that results: what we print must be accepted when it comes back. */
export const parseDomainOrPrefix = (text: string): Parsed => {
  const prefix = parsePrefix(text)
  if (prefix === undefined) return parseDomainOrAddress(text, false)
  const covering = coveringPrefix(prefix.address)
  if (covering === `${prefix.address.toString()}/${prefix.bits}`) return covering
  return fault('must be a /32 of IPv4 or a /64 of IPv6 without host bits')
}

/** A comma-separated list, or the hash that it becomes. */
export const parseFqdnSet = (text: string, strict: boolean): Parsed => {
  if (HASH.test(text)) return text
  const members = fqdnSetMembers(text, strict)
  return 'rule' in members ? members : hashCanonical(members)
}

export const fqdnSetMembers = (text: string, strict: boolean): readonly Identifier[] | Fault => {
  // One more than allowed is enough to know.
  const texts = text.split(',', MAX_IDENTIFIERS + 1)
  if (texts.length > MAX_IDENTIFIERS) return fault(`must have at most ${MAX_IDENTIFIERS} members`)
  const members: Identifier[] = []
  for (const member of texts) {
    const parsed = parseIdentifier(member, strict)
    if ('rule' in parsed) {
      const rule = `must be names and addresses joined by commas; ${JSON.stringify(member)}`
      return fault(`${rule} ${parsed.rule}`)
    }
    members.push(parsed)
  }
  return members
}

const HASH = /^[0-9a-f]{64}$/
