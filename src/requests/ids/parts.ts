/** The parts of a request that bucket ids are built from: account, client address, identifiers. */
import { quote } from '../../core/errors.ts'
import { canonicalAddress } from '../../net/addresses.ts'
import { type CatalogErrorCode, refuseCatalog } from '../catalog/definition.ts'

/** What a certificate is for: a DNS name or an IP address (RFC 8555, RFC 8738). */
export interface Identifier {
  readonly type: 'dns' | 'ip'
  readonly value: string
}

/** A request may show all it has: each limit takes what it needs and ignores the rest. */
export interface Parts {
  /** Text where it may exceed 2^53. */
  readonly regId?: string | number
  readonly ip?: string
  readonly identifier?: Identifier
  readonly identifiers?: readonly Identifier[]
}

/** Reads parts for one id, and names that id in every mistake. */
export interface PartsReader {
  need<Name extends keyof Parts>(name: Name): NonNullable<Parts[Name]>
  ip(): string
  refuse(code: CatalogErrorCode, part: string, rule: string, finding: string): never
}

export const partsReader = (parts: Parts, thing: string): PartsReader => {
  const refuse: PartsReader['refuse'] = (code, part, rule, finding) =>
    refuseCatalog({ code, thing: `${thing} from ${part}`, rule, finding })
  const need: PartsReader['need'] = (name) =>
    parts[name] ?? refuse('PARTS_MISSING', `parts.${name}`, `needs parts.${name}`, 'none')
  return {
    need,
    refuse,
    ip: () => {
      const text = need('ip')
      const rule = 'must be an IP address without zone or mask'
      return canonicalAddress(text) ?? refuse('PARTS_INVALID', 'parts.ip', rule, quote(text))
    },
  }
}
