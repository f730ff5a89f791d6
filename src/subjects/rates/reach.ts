/**
 * What a rate on a subject would reach: nothing, because no question can be spelled so, or very much,
 * such as every domain under `co.uk`. Both are mistakes far more often than they are meant.
 */
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { quote } from '../../core/errors.ts'
import { canonicalAddress } from '../../net/addresses.ts'
import { refuseSubject } from '../mistake.ts'
import { checkSubject, foldText, MAX_PARENTS, type NamedSubject, readSubject } from './subject.ts'

/** Ranges with a shorter prefix need `force`: a whole /8 is the largest that one owner ever got. */
const MIN_LENGTH = { ipv4: 8, ipv6: 16 }

/** RFC 1035, in text form. */
const MAX_NAME = 253
const MAX_LABEL = 63

/** The rule that a subject breaks which can match nothing; undefined for all others. */
const matchFault = (subject: string): string | undefined => {
  const text = foldText(checkSubject(subject))
  const [named] = readSubject(text)
  if (!isWildcard(named) && text.includes('*')) {
    return 'may have a * only in front of a domain, as in *.example.com, or of an @'
  }
  switch (named.kind) {
    case 'range':
      return undefined
    case 'host':
      return 'name' in named.host ? nameFault(named.host.name) : undefined
    case 'mail':
      return named.host === undefined ? 'must have a domain or an address after the @' : undefined
    case 'place':
      if (looksLikeRange(text)) return RANGE_RULE
      return /^did:(?:[^:]*:?)$/.test(named.form) ? 'must have all three parts of a DID' : undefined
    case 'text':
      return textFault(named.text)
    default:
      return named satisfies never
  }
}

/** Throws for a subject that can match nothing. */
export const checkMatchable = (subject: string): string => {
  const rule = matchFault(subject)
  if (rule === undefined) return subject
  const [code, finding] = ['SUBJECT_MATCHES_NOTHING', quote(subject)] as const
  return refuseSubject({ code, thing: 'subject', rule, finding })
}

/** For a receipt: what whoever set the rate might not expect of it. */
export const reachWarning = (subject: string): string | undefined => {
  const [rule, reach] = [matchFault(subject), wideReach(subject)]
  if (rule !== undefined) return `matches nothing as it stands: ${subject} ${rule}`
  return reach === undefined ? undefined : `covers ${reach}`
}

/** What a rate covers that needs `force`; undefined for one that needs none. */
export const wideReach = (subject: string): string | undefined => {
  const [named] = readSubject(checkSubject(subject))
  switch (named.kind) {
    case 'range': {
      const bits = Number(named.range.split('/')[1])
      const least = MIN_LENGTH[named.range.includes(':') ? 'ipv6' : 'ipv4']
      return bits < least ? `every address in ${named.range}` : undefined
    }
    case 'host':
      return 'name' in named.host ? suffixReach(named.host.name.replace(/^\*\./, '')) : undefined
    case 'mail': {
      const reach = named.local === undefined ? suffixReach(named.domain) : undefined
      return reach === undefined ? undefined : `all mail of ${reach}`
    }
    case 'text':
      return parse(named.text, LIST).isIcann ? suffixReach(named.text) : undefined
    case 'place':
      return undefined
    default:
      return named satisfies never
  }
}

/** Names come in checked. Private suffixes count: `github.io` has as many owners as `co.uk`. */
const LIST = {
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
}

function suffixReach(name: string): string | undefined {
  const { publicSuffix } = parse(name, LIST)
  return publicSuffix === name ? `every domain under ${name}, a public suffix` : undefined
}

function isWildcard(named: NamedSubject): boolean {
  if (named.kind === 'mail') return named.local === undefined && !named.domain.includes('*')
  if (named.kind !== 'host' || !('name' in named.host)) return false
  return named.host.name.lastIndexOf('*') === 0 && named.host.name.startsWith('*.')
}

function nameFault(name: string): string | undefined {
  const labels = name.split('.')
  if (name.length > MAX_NAME || labels.some(({ length }) => length > MAX_LABEL)) {
    return `must have at most ${MAX_NAME} characters, and ${MAX_LABEL} between two dots, to be a domain`
  }
  if (labels.length <= MAX_PARENTS) return undefined
  return `must have at most ${MAX_PARENTS} labels: more are not looked up`
}

const RANGE_RULE = 'must be a range without host bits, such as 198.51.100.0/24 or 2001:db8::/32'

const looksLikeRange = (text: string): boolean => /^[\da-f]*[.:][\da-f.:]*\/[\d.]*$/i.test(text)

/** `192.0.2.0-192.0.2.255`, as some lists write ranges. */
function isFromTo(text: string): boolean {
  const ends = text.split('-')
  return ends.length === 2 && ends.every((end) => canonicalAddress(end.trim()) !== undefined)
}

function textFault(text: string): string | undefined {
  if (looksLikeRange(text) || isFromTo(text)) return RANGE_RULE
  if (text.includes('@')) return 'must have a name before and a domain after the @'
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return 'must be a URL with a host'
  if (/^\d+(?:\.\d+){2,}\.?$|^(?:\d+\.)+$/.test(text)) {
    return 'must be an IPv4 address of four numbers from 0 to 255, or a range such as 192.0.2.0/24'
  }
  if (/^[\da-f:.]*::[\da-f:.]*$/i.test(text)) return 'must be an IPv6 address'
  const ascii = domainToASCII(text)
  // Words in capitals only: `Dev` may be an account, and `рф` and `COM` are meant as domains.
  const isSuffix = ascii !== text && !/[a-z]/.test(text) && parse(ascii, LIST).isIcann === true
  return isSuffix ? `must be written ${ascii} to be the top-level domain` : undefined
}
