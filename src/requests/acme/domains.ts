/** Domain names: syntax (RFC 1034, RFC 5890) and registered domain (Public Suffix List). */
import { domainToASCII, domainToUnicode } from 'node:url'
import { parse } from 'tldts'

/** RFC 1035, in text form without the final dot. */
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63
/** Certificate authorities refuse deeper names. */
const MAX_LABELS = 10

/**
 * The name one label below its public suffix, private suffixes included: `a.b.example.co.uk` is
 * `example.co.uk`, `x.foo.github.io` is `foo.github.io`. A suffix is its own: `co.uk` is `co.uk`.
 */
export const registeredDomain = (name: string): string => parse(name, PRIVATE).domain ?? name

/** The rule that a lower-case name breaks, if any. The suffix may be unknown, as `host.local`. */
export const nameFault = (name: string): string | undefined => {
  if (name === '') return 'must not be empty'
  if (name.length > MAX_NAME_LENGTH) return `must be at most ${MAX_NAME_LENGTH} characters long`
  if (name.endsWith('.')) return 'must not end in a dot'
  const labels = name.split('.')
  if (labels.length > MAX_LABELS) return `must have at most ${MAX_LABELS} labels`
  for (const label of labels) {
    const broken = labelFault(label)
    if (broken !== undefined) return broken
  }
  if (labels.length === 1 && !parse(name, ICANN).isIcann) return 'must have at least two labels'
  // An address with a part too many or too few must not pass for a name.
  if (/^\d+$/.test(labels.at(-1) ?? '')) return 'must end in a label that is not a number'
  return undefined
}

/** The rule that a well-formed name breaks that no certificate could be issued for. */
export const suffixFault = (name: string): string | undefined => {
  const { isIcann, publicSuffix } = parse(name, ICANN)
  if (!isIcann) return 'must end in a public suffix, such as .com'
  if (publicSuffix === name) return 'must not itself be a public suffix'
  return undefined
}

/** Names come in checked: the library need not look for URLs or addresses. */
const ICANN = { extractHostname: false, validateHostname: false, detectIp: false }
const PRIVATE = { ...ICANN, allowPrivateDomains: true }

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

function labelFault(label: string): string | undefined {
  if (label === '') return 'must not have an empty label'
  if (label.length > MAX_LABEL_LENGTH) return `must have labels of at most ${MAX_LABEL_LENGTH}`
  if (!LABEL.test(label)) {
    return 'must have labels of lower-case letters, digits and inner hyphens (xn-- form for others)'
  }
  if (label.slice(2, 4) === '--' && !isPunycode(label)) {
    return 'must have -- as third and fourth characters only in valid xn-- labels'
  }
  return undefined
}

/** There and back again: what decodes to text that encodes differently is not the one spelling. */
function isPunycode(label: string): boolean {
  if (!label.startsWith('xn--')) return false
  const decoded = domainToUnicode(label)
  return decoded !== '' && decoded !== label && domainToASCII(decoded) === label
}
