/** Bucket ids from the parts of a request: account, client address, identifiers. */

import { canonicalAddress, isIPv6, parseAddress } from '../net/addresses.ts'
import { maskIPv6 } from '../net/prefixes.ts'
import { parseRegId } from './account-ids.ts'
import { type CatalogErrorCode, refuseCatalog } from './catalog-mistake.ts'
import type { IdFormat } from './id-formats.ts'
import {
  canonicalIdentifier,
  coveringIdentifier,
  fqdnSetHash,
  type Identifier,
  MAX_IDENTIFIERS,
} from './identifiers.ts'

/** A request may show all it has: each limit takes what it needs and ignores the rest. */
export interface Parts {
  /** Text where it may exceed 2^53. */
  readonly regId?: string | number
  readonly ip?: string
  readonly identifier?: Identifier
  readonly identifiers?: readonly Identifier[]
}

/** The canonical bucket id. `thing` is what messages call it. */
export const bucketIdFromParts = (format: IdFormat, parts: Parts, thing = 'the id'): string => {
  const read = reader(parts, thing)
  switch (format) {
    case 'ipAddress':
      return read.ip()
    case 'ipv6RangeCIDR':
      return read.ipv6Range()
    case 'regId':
      return read.regId()
    case 'domain':
      return read.domain()
    case 'domainOrCIDR':
      return coveringIdentifier(read.identifier())
    case 'fqdnSet':
      return fqdnSetHash(read.identifiers())
    case 'regId:identifier':
      return `${read.regId()}:${canonicalIdentifier(read.identifier()).value}`
    case 'regId:domainOrCIDR':
      return `${read.regId()}:${coveringIdentifier(read.identifier())}`
    case 'opaque':
      return read.unsupported('needs an id: an opaque one cannot be built from parts')
    default:
      return format satisfies never
  }
}

function reader(parts: Parts, thing: string) {
  const refuse = (code: CatalogErrorCode, part: string, rule: string, finding: string): never =>
    refuseCatalog({ code, thing: `${thing} from ${part}`, rule, finding })

  const need = <Name extends keyof Parts>(name: Name): NonNullable<Parts[Name]> =>
    parts[name] ?? refuse('PARTS_MISSING', `parts.${name}`, `needs parts.${name}`, 'none')

  const ip = (): string => {
    const text = need('ip')
    const rule = 'must be an IP address without zone or mask'
    return canonicalAddress(text) ?? refuse('PARTS_INVALID', 'parts.ip', rule, JSON.stringify(text))
  }

  return {
    ip,
    ipv6Range: (): string => {
      const address = parseAddress(ip())
      if (address !== undefined && isIPv6(address)) return maskIPv6(address, 48)
      return refuse('PARTS_UNSUPPORTED', 'parts.ip', 'needs an IPv6 address', `${parts.ip}`)
    },
    regId: (): string => {
      const given = need('regId')
      // A number beyond 2^53 has already lost its last digits.
      const exact = typeof given === 'string' || Number.isSafeInteger(given)
      const parsed = exact ? parseRegId(String(given)) : { rule: 'must be exact: give it as text' }
      if (typeof parsed === 'string') return parsed
      return refuse('PARTS_INVALID', 'parts.regId', parsed.rule, JSON.stringify(given))
    },
    identifier: (): Identifier => need('identifier'),
    identifiers: (): readonly Identifier[] => {
      const { length } = need('identifiers')
      const rule = `needs 1 to ${MAX_IDENTIFIERS} identifiers`
      if (length === 0) return refuse('PARTS_MISSING', 'parts.identifiers', rule, 'none')
      if (length <= MAX_IDENTIFIERS) return need('identifiers')
      return refuse('PARTS_INVALID', 'parts.identifiers', rule, `${length}`)
    },
    domain: (): string => {
      const identifier = need('identifier')
      if (identifier.type !== 'ip') return coveringIdentifier(identifier)
      return refuse('PARTS_UNSUPPORTED', 'parts.identifier', 'needs a dns identifier', 'an ip one')
    },
    unsupported: (rule: string): never => refuse('PARTS_UNSUPPORTED', 'parts', rule, 'parts'),
  }
}
