/**
 * A subject is text that names whom a request concerns. All its spellings have one normal form,
 * under which its rates are kept; the rates of wider subjects (the domain of an address, the
 * parents of a domain, the ranges around an address) apply to it too.
 *
 * The parsers of the WHATWG URL standard read hosts and URLs, with its IDNA (UTS 46), `net/` reads
 * addresses. What they refuse still names the host that stands in it.
 */
import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { quote } from '../../core/errors.ts'
import { canonicalAddress } from '../../net/addresses.ts'
import {
  ALL_PREFIX_LENGTHS,
  canonicalRange,
  type PrefixLengths,
  rangesAround,
} from '../../net/range-table.ts'
import { refuseSubject } from '../mistake.ts'

/** In UTF-8. Room for any DID and any sensible URL; a subject is part of a store's key. */
const MAX_SUBJECT_BYTES = 1_024

/** Subjects that one question may name. */
export const MAX_SUBJECTS_PER_QUESTION = 32

/** Wider domains that are looked up. The widest count: an attacker adds labels on the left. */
export const MAX_PARENTS = 16

/** Escapes can make a form longer than its subject; beyond this it no longer fits a store's key. */
export const MAX_FORM_BYTES = 1_536

/** The one spelling under which rates of this subject are kept. */
export const normalForm = (subject: string): string => keyText(ownForm(namedBy(subject)[0]))

/**
 * The normal form itself, then every wider one, narrowest first. An address has one for each length of
 * prefix: who knows the lengths that are in use asks for those alone. Beside them there are at most 90.
 */
export const coveringForms = (
  subject: string,
  lengths: PrefixLengths = ALL_PREFIX_LENGTHS,
): readonly string[] => {
  const forms = namedBy(subject).flatMap((named) => [ownForm(named), ...widerForms(named, lengths)])
  return [...new Set(forms.map(keyText))]
}

/** The lengths in use once a rate is kept under this form; the same object if it adds none. */
export const withLengthOf = (lengths: PrefixLengths, form: string): PrefixLengths => {
  const [, start = '', length] = /^ip:([\da-f.:]+)\/(\d+)$/.exec(form) ?? []
  const family = start.includes(':') ? 'ipv6' : 'ipv4'
  const [bits, known] = [Number(length), lengths[family]]
  if (length === undefined || known.includes(bits)) return lengths
  return { ...lengths, [family]: [...known, bits].sort((a, b) => b - a) }
}

export const checkSubject = (subject: string): string => {
  const isKept = Buffer.byteLength(subject) <= MAX_SUBJECT_BYTES && isKeepable(subject)
  if (isKept && foldText(subject).replace(JOINERS, '') !== '') return subject
  const rule = `must be 1 to ${MAX_SUBJECT_BYTES} bytes of Unicode text without control characters`
  return refuseSubject({ code: 'SUBJECT_INVALID', thing: 'subject', rule, finding: quote(subject) })
}

export const checkSubjectCount = ({ length }: readonly string[]): void => {
  if (length <= MAX_SUBJECTS_PER_QUESTION) return
  const rule = `must be at most ${MAX_SUBJECTS_PER_QUESTION}`
  refuseSubject({ code: 'SUBJECTS_TOO_MANY', thing: 'subjects', rule, finding: `${length}` })
}

/** Stores refuse control characters and lone surrogates in a key, and no list could show them. */
export const isKeepable = (text: string): boolean => !/\p{Cc}|\p{Surrogate}/u.test(text)

const namedBy = (subject: string) => readSubject(checkSubject(subject))

/** Unescaping can bring in control characters, which no key may hold. A name escapes `%`, `/` and `#`. */
function keyText(form: string): string {
  if (form.length * 3 <= MAX_FORM_BYTES && /^[ -~]*$/.test(form)) return form
  const text = form.replace(/\p{Cc}/gu, encodeURIComponent)
  if (Buffer.byteLength(text.replace(/[%/#]/g, '...')) <= MAX_FORM_BYTES) return text
  return `long:${createHash('sha256').update(text).digest('hex')}`
}

function ownForm(named: NamedSubject): string {
  switch (named.kind) {
    case 'host':
      return hostForm(named.host)
    case 'range':
      return `ip:${named.range}`
    case 'mail':
      return `mail:${named.local ?? ''}@${named.domain}`
    case 'place':
      return named.form
    case 'text':
      return `text:${named.text}`
    default:
      return named satisfies never
  }
}

/** A host without a dot may be a word as well: `com` is kept as the text that it is. */
function hostForm(host: SubjectHost): string {
  if ('address' in host) return `ip:${host.address}`
  return host.name.includes('.') ? `name:${host.name}` : `text:${host.name}`
}

function widerForms(named: NamedSubject, lengths: PrefixLengths): readonly string[] {
  switch (named.kind) {
    case 'range':
      return rangesAround(named.range, lengths).map((range) => `ip:${range}`)
    case 'host':
    case 'place':
      return named.host === undefined ? [] : hostForms(named.host, lengths, false)
    case 'mail': {
      const { local, domain, host } = named
      const untagged = local?.replace(/(?<=.)\+.*$/s, '') ?? ''
      const wider = host === undefined ? [] : hostForms(host, lengths, true)
      return [`mail:${untagged}@${domain}`, ...wider]
    }
    case 'text':
      return []
    default:
      return named satisfies never
  }
}

/** The host and all around it; for mail also what stands for the mail of each. */
function hostForms(host: SubjectHost, lengths: PrefixLengths, isMail: boolean): readonly string[] {
  const mail = (name: string) => (isMail ? [`mail:@${name}`] : [])
  if ('address' in host) {
    const ranges = rangesAround(host.address, lengths).map((range) => `ip:${range}`)
    return [...mail(hostText(host)), hostForm(host), ...ranges]
  }
  const labels = host.name.split('.').slice(1).slice(-MAX_PARENTS)
  const wider = labels.flatMap((_, index) => {
    const name = labels.slice(index).join('.')
    return [`name:*.${name}`, ...mail(name), hostForm({ name })]
  })
  return [...mail(host.name), hostForm(host), ...wider]
}

type SubjectHost = { readonly address: string } | { readonly name: string }

export type NamedSubject =
  | { readonly kind: 'host'; readonly host: SubjectHost }
  | { readonly kind: 'range'; readonly range: string }
  /** Without a local part: all mail of the host. Without a host: the domain is none, and nothing is wider. */
  | {
      readonly kind: 'mail'
      readonly local?: string
      readonly domain: string
      readonly host: SubjectHost | undefined
    }
  /** A URL or a DID, under a form of its own, and the host that it is on. */
  | { readonly kind: 'place'; readonly form: string; readonly host: SubjectHost | undefined }
  | { readonly kind: 'text'; readonly text: string }

/** The first says under which form the subject is kept; the text may name the others as well. */
type Readings = readonly [NamedSubject, ...NamedSubject[]]

/** Linear in the text, which the caller bounds. */
export const readSubject = (subject: string): Readings => {
  const text = foldText(subject).replace(/^<(?:URL:)?([^<>@]+)>$/i, '$1')
  const bare = decoded(text)
  const marked = readMarked(text) ?? (bare === text ? undefined : readMarked(bare))
  return marked === undefined ? (readBare(bare) ?? [plainText(text)]) : [marked]
}

/** What shows by its first characters or its whole form what it is. */
function readMarked(text: string): NamedSubject | undefined {
  const address = readAddress(text)
  if (address !== undefined) return { kind: 'host', host: { address } }
  const range = text.includes('/') ? canonicalRange(text.replace(JOINERS, '')) : undefined
  if (range !== undefined) return rangeOrAddress(range)
  if (/^did:/i.test(text)) return readDid(text)
  return ACCOUNT_SCHEME.test(text) ? readAccount(text) : readUrl(text)
}

const hostText = (host: SubjectHost): string => ('name' in host ? host.name : host.address)

/**
 * Characters that do not show are dropped, and full-width and other variants of a character become the
 * character. The two joiners stay: in some scripts they tell one domain from another.
 */
export const foldText = (text: string): string => {
  if (/^[\x21-\x7e]*$/.test(text)) return text
  const shown = text.replace(/(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu, '')
  return shown.normalize('NFKC').replaceAll('\u3002', '.').trim()
}

const JOINERS = /[\u200c\u200d]/g

const plainText = (text: string): NamedSubject => ({
  kind: 'text',
  text: text.replace(JOINERS, ''),
})

const rangeOrAddress = (range: string): NamedSubject =>
  range.includes('/') ? { kind: 'range', range } : { kind: 'host', host: { address: range } }

/** Without a scheme: a host, a host with a path, or mail. `evil.test/@a.test` may be both of the latter. */
function readBare(text: string): Readings | undefined {
  const host = readHost(text, 'dotted')
  if (host !== undefined) return [{ kind: 'host', host }]
  const end = text.search(/[/\\?#]/)
  const isPlace = end > 0 && readHost(text.slice(0, end), 'dotted') !== undefined
  const [first, second] = [isPlace ? urlOf(`https://${text}`) : undefined, readMail(text)]
  if (first !== undefined) return second === undefined ? [first] : [first, second]
  if (second !== undefined) return [second]
  // As `git` writes places: `evil.test:x/y`.
  const before = readHost(text.split(':', 1).join(''), 'dotted')
  return before === undefined ? undefined : [plainText(text), { kind: 'host', host: before }]
}

/** Schemes of accounts on a host: what follows is mail in its form. */
const ACCOUNT_SCHEME = /^(?:mailto|acct|sips?|xmpp|im|pres):/i

function readAccount(text: string): NamedSubject | undefined {
  const [given = ''] = text.replace(ACCOUNT_SCHEME, '').replace(/^\/\//, '').split('?', 1)
  const rest = decoded(given)
  const host = readCutHost(rest)
  return readMail(rest) ?? (host === undefined ? undefined : { kind: 'host', host })
}

/** RFC 5322, leniently: `X <x@a.test>`, `"x"@a.test`, `x (at home) @ a.test`. */
function readMail(given: string): NamedSubject | undefined {
  const text = withoutComments(given)
  const address = /<([^<>]*)>[^<>@]*$/.exec(text)?.[1] ?? text
  if (ACCOUNT_SCHEME.test(address)) return readAccount(address)
  // By the last @: in `"x@y"@b.test` the domain is b.test.
  const at = address.lastIndexOf('@')
  return at < 0 ? undefined : mailOf(unquoted(address.slice(0, at).trim()), address.slice(at + 1))
}

function mailOf(local: string, given: string): NamedSubject | undefined {
  const [end = ''] = given.split(NO_HOST, 1)
  const labels = end.split('.').map((label) => label.trim())
  const domain = labels.join('.')
  if (domain === '' || /\s/.test(domain)) return undefined
  const host = readCutHost(domain)
  const place = { domain: host === undefined ? domain.toLowerCase() : hostText(host), host }
  if (local !== '' && local !== '*') {
    return { kind: 'mail', local: local.replace(JOINERS, '').toLowerCase(), ...place }
  }
  return host === undefined ? undefined : { kind: 'mail', ...place }
}

const unquoted = (local: string): string =>
  local.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => inner.replace(/\\(.)/g, '$1'))

/** Comments stand in parentheses and nest; what does not close is no comment. */
function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  let [kept, depth, isQuoted] = ['', 0, false]
  for (let at = 0; at < text.length; at += 1) {
    const escaped = text[at] === '\\' ? text.slice(at, at + 2) : ''
    if (depth === 0 && text[at] === '"') isQuoted = !isQuoted
    if (!isQuoted && text[at] === '(') depth += 1
    if (depth === 0) kept += escaped || text[at]
    if (!isQuoted && text[at] === ')') depth = Math.max(0, depth - 1)
    if (escaped !== '') at += 1
  }
  return depth === 0 ? kept : text
}

/** What wraps a URL and is none of its own: a scheme before another, as in `blob:https://evil.test`. */
const WRAPPERS = /^(?:[a-z][a-z0-9+-]*:)+(?=(?:https?|wss?|ftp):|[a-z][a-z0-9+-]*:\/\/)/i

/** With a scheme, or from `//` on. `https:evil.test` is a URL to browsers, and so it is here. */
function readUrl(text: string): NamedSubject | undefined {
  const inner = text.replace(WRAPPERS, '')
  if (/^[/\\]{2}/.test(inner)) return urlOf(`https:${inner}`)
  return /^(?:(?:https?|wss?|ftp):|[a-z][a-z0-9+.-]*:\/\/)/i.test(inner) ? urlOf(inner) : undefined
}

/**
 * A URL names the same place with or without a fragment, a password or a usual port, over HTTP or
 * HTTPS; with nothing but a host it names the host.
 */
function urlOf(text: string): NamedSubject | undefined {
  const url = parseUrl(text) ?? parseUrl(text.replace(/%[^\]/?#]*\]/, ']').replace(JOINERS, ''))
  if (url === undefined) return brokenUrl(text)
  const { protocol, hostname } = url
  const host = readHost(hostname, 'any')
  const isWeb = /^(?:http|ws)s?:$/.test(protocol)
  const isUsual = url.port === '' || (isWeb && /^(?:80|443)$/.test(url.port))
  const path = evenEscapes(url.pathname, '%/?#\\') + evenEscapes(url.search, '%&=+#')
  const shown = path.replace(/%E2%80%8[CD]/g, '')
  if (host !== undefined && isUsual && /^\/?$/.test(shown)) return { kind: 'host', host }
  const name = host === undefined ? hostname.toLowerCase() : hostText(host)
  const place = `${isWeb ? '' : `${protocol}//`}${name}${isUsual ? '' : `:${url.port}`}`
  return { kind: 'place', form: `url:${place}${shown}`, host }
}

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** One that browsers refuse, for a label such as `xn--a`, and others may follow all the same. */
function brokenUrl(text: string): NamedSubject | undefined {
  const [, authority = '', rest = ''] = /^[^:]*:[/\\]*([^/\\?#]*)(.*)$/.exec(text) ?? []
  const name = decoded(authority.slice(authority.lastIndexOf('@') + 1))
  // With an @ behind it, a bad port may be part of a password: mail is read then.
  const host = rest.includes('@') ? readHost(name, 'any') : readCutHost(name)
  if (host === undefined) return undefined
  return { kind: 'place', form: `url:${hostText(host)}${rest}`, host }
}

/** Escapes of printable characters are undone, but for those that would divide the text. */
function evenEscapes(text: string, dividers: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    const isPlain = /[ -~]/.test(character) && !dividers.includes(character)
    return isPlain ? character : escaped.toUpperCase()
  })
}

/** DID methods that name a host, and which part of the DID it is. */
const DID_HOST: Readonly<Record<string, number>> = { web: 0, webs: 0, dns: 0, webvh: 1, tdw: 1 }

/**
 * The method-specific part of a DID keeps its case: base58 means something by it. A fragment, a query
 * and a path name something of the subject, which is still the same. `did:web:a.test` is a.test.
 */
function readDid(text: string): NamedSubject {
  const [did = ''] = text.replace(JOINERS, '').split(/[/?#;]/, 1)
  const [, method = '', ...parts] = did.split(':')
  const kind = method.toLowerCase()
  const even = parts.map((part) => evenEscapes(part, '%/?#\\:'))
  if (kind === 'mailto') {
    // did:mailto:example.com:alice is alice@example.com.
    const [domain = '', ...local] = parts.map(decoded)
    const mail = local.length === 0 ? readMail(domain) : mailOf(local.join(':'), domain)
    if (mail !== undefined) return mail
  }
  const part = Object.hasOwn(DID_HOST, kind) ? (DID_HOST[kind] ?? 0) : -1
  const [name = '', port = ''] = decoded(parts[part] ?? '').split(/[:/?#]/)
  const host = readHost(name, 'any')
  const isUsual = port === '' || port === '443'
  if (host !== undefined) even[part] = `${hostText(host)}${isUsual ? '' : `%3A${port}`}`
  if (host !== undefined && isUsual && parts.length === 1) return { kind: 'host', host }
  return { kind: 'place', form: `did:${kind}:${even.join(':')}`, host }
}

/** `dotted`: a word without a dot is an account as well as a host, and so it is no host here. */
function readHost(text: string, names: 'dotted' | 'any'): SubjectHost | undefined {
  const address = readAddress(text)
  if (address !== undefined) return { address }
  const bare = text.replace(/:\d*$/, '')
  if (bare === '' || /[\s/\\?#@:<>[\]"]/.test(bare)) return undefined
  const labels = asciiName(bare).split('.').filter(Boolean)
  const last = labels.at(-1)
  // `127.1` is an address to some readers and nothing to others.
  if (last === undefined || /^\d/.test(last)) return undefined
  const isDotted = labels.length > 1 || /^\.|\.$/.test(bare)
  return isDotted || names === 'any' ? { name: labels.join('.') } : undefined
}

/** What ends a host, whatever stands before it. */
const NO_HOST = /[/\\>,;?#"()]/

/** A host with what others add to it: a port that is none, or parameters as in `sip:a.test;lr`. */
function readCutHost(text: string): SubjectHost | undefined {
  const [host = ''] = text.split(NO_HOST, 1)
  return readHost(host.trim(), 'any') ?? readHost(host.replace(/:[^\]]*$/, '').trim(), 'any')
}

/** Label by label where the name as a whole breaks a rule: its wider domains must still be found. */
function asciiName(name: string): string {
  // The usual case, which IDNA would only put in lower case.
  if (/^[\w.-]*$/.test(name) && !/xn--/i.test(name)) return name.toLowerCase()
  const whole = domainToASCII(name)
  if (whole !== '') return whole
  const ascii = (label: string) =>
    /^[\x21-\x7e]*$/.test(label) ? label.toLowerCase() : domainToASCII(label)
  const labels = name.split('.').map((label) => {
    const joined = label.replace(JOINERS, '')
    return ascii(label) || ascii(joined) || joined.toLowerCase()
  })
  return labels.join('.')
}

/** With brackets, a port, a zone, a final dot, or as mail writes it; never without a digit or a colon. */
function readAddress(given: string): string | undefined {
  if (!/\d|:/.test(given)) return undefined
  const plain = canonicalAddress(given)
  if (plain !== undefined) return plain
  const text = given.replace(JOINERS, '')
  const [, bracketed] = /^\[(?:IPv6:)?([^\]]*)\](?::\d*)?$/i.exec(text) ?? []
  const [, dotted] = /^(\d+\.\d+\.\d+\.\d+)\.*(?::\d*)?$/.exec(text) ?? []
  return canonicalAddress((bracketed ?? dotted ?? text).replace(/%.*/s, ''))
}

/** A malformed escape stays as it is, and so do the bytes of no text; all others are undone. */
const decoded = (text: string): string => foldText(text.replace(/(?:%[\da-f]{2})+/gi, unescaped))

function unescaped(escapes: string): string {
  try {
    return decodeURIComponent(escapes).replace(/\p{Cc}/gu, '')
  } catch {
    return escapes
  }
}
