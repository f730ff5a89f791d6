/** What a certificate is for: a DNS name or an IP address (RFC 8555, RFC 8738). */
import { createHash } from 'node:crypto'
import { quote } from '../../core/errors.ts'
import { canonicalAddress, parseIpAddress } from '../../net/addresses.ts'
import { coveringPrefix } from '../../net/prefixes.ts'
import { refuseCatalog } from '../catalog/definition.ts'
import { type Fault, fault, type Parsed } from '../ids/id-format.ts'
import type { Identifier } from '../ids/parts.ts'
import { nameFault, registeredDomain, suffixFault } from './domains.ts'

/** An order names at most this many; what is longer is no set that a certificate could have. */
export const MAX_IDENTIFIERS = 100

/** Lower-case name or canonical address. Names may start with `*.`. */
export const canonicalIdentifier = (identifier: Identifier): Identifier => {
  const { type, value } = identifier
  switch (type) {
    case 'dns': {
      const name = value.toLowerCase()
      const rule = nameFault(withoutWildcard(name))
      return rule === undefined ? { type, value: name } : refuseIdentifier(identifier, rule)
    }
    case 'ip': {
      const address = canonicalAddress(value)
      if (address === undefined) return refuseIdentifier(identifier, 'must be an IP address')
      return { type, value: address }
    }
    default:
      return refuseType(type)
  }
}

/** What certificates are counted by: the registered domain, the IPv4 /32, or the IPv6 /64. */
export const coveringIdentifier = (identifier: Identifier): string => {
  const { type, value } = canonicalIdentifier(identifier)
  if (type === 'dns') return registeredDomain(withoutWildcard(value))
  const address = parseIpAddress(value)
  return address === undefined ? value : coveringPrefix(address)
}

/** Each once, sorted. */
export const coveringIdentifiers = (identifiers: readonly Identifier[]): string[] =>
  [...new Set(identifiers.map(coveringIdentifier))].sort()

/** SHA-256 in hex over the set: neither order nor case nor repetition matters. */
export const fqdnSetHash = (identifiers: readonly Identifier[]): string =>
  hashCanonical(identifiers.map(canonicalIdentifier))

/** For identifiers that have been parsed already. */
const hashCanonical = (canonical: readonly Identifier[]): string => {
  const values = (type: Identifier['type']) =>
    [...new Set(canonical.filter((one) => one.type === type).map(({ value }) => value))].sort()
  // All names before all addresses: this order is part of the key that other systems compute.
  const text = [...values('dns'), ...values('ip')].join(',')
  return createHash('sha256').update(text).digest('hex')
}

/** `strict` for overrides: lower-case as written, below a public suffix. Wildcards are for sets. */
export const parseIdentifier = (text: string, strict: boolean): Identifier | Fault => {
  const address = canonicalAddress(text)
  if (address !== undefined) return { type: 'ip', value: address }
  const value = strict ? text : text.toLowerCase()
  const name = withoutWildcard(value)
  const rule = nameFault(name) ?? (strict ? suffixFault(name) : undefined)
  return rule === undefined ? { type: 'dns', value } : fault(rule)
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
      const rule = `must be names and addresses joined by commas; ${quote(member)}`
      return fault(`${rule} ${parsed.rule}`)
    }
    members.push(parsed)
  }
  return members
}

const HASH = /^[0-9a-f]{64}$/

export const withoutWildcard = (name: string): string =>
  name.startsWith('*.') ? name.slice(2) : name

const refuseIdentifier = ({ type, value }: Identifier, rule: string): never =>
  refuseCatalog({
    code: 'PARTS_INVALID',
    thing: `the ${type} identifier`,
    rule,
    finding: quote(value),
  })

/** Types do not bind callers in JavaScript: other kinds of identifier exist. */
const refuseType = (type: never): never =>
  refuseCatalog({
    code: 'PARTS_UNSUPPORTED',
    thing: 'the type of an identifier',
    rule: 'must be dns or ip',
    finding: JSON.stringify(type),
  })
