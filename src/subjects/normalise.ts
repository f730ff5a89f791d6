/**
 * Subjects as look-ups see them: one normal form for all spellings of a subject, and the wider
 * subjects whose rates apply to it too (the domain of an address, the parents of a domain).
 */
import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { canonicalAddress } from '../net/addresses.ts'
import { checkSubject } from './rate.ts'

/** Wider domains that are looked up. The widest count: an attacker adds labels on the left. */
const MAX_PARENTS = 16

/** Escapes can make a form longer than its subject; beyond this it no longer fits a store's key. */
const MAX_FORM_BYTES = 1_536

/** The one spelling under which rates of this subject are kept. */
export const normalForm = (subject: string): string => keyText(formsOf(subject)[0])

/** The normal form itself, then every wider one, narrowest first. */
export const coveringForms = (subject: string): readonly string[] => formsOf(subject).map(keyText)

type Forms = readonly [string, ...string[]]

/** What was unescaped may hold what no key may. */
function keyText(form: string): string {
  const text = form.replace(/\p{Cc}/gu, encodeURIComponent)
  if (Buffer.byteLength(text) <= MAX_FORM_BYTES) return text
  return `long:${createHash('sha256').update(text).digest('hex')}`
}

function formsOf(subject: string): Forms {
  const text = checkSubject(subject).normalize('NFC').trim()
  if (/^did:/i.test(text)) return didForms(text)
  if (/^mailto:/i.test(text)) return mailForms(text.slice('mailto:'.length)) ?? [`text:${text}`]
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return urlForms(text)
  const address = canonicalAddress(text.replace(/^\[(.*)\]$/, '$1'))
  if (address !== undefined) return [`ip:${address}`]
  return mailForms(text) ?? nameForms(text) ?? [`text:${text}`]
}

/** The method-specific part of a DID keeps its case: base58 means something by it. */
function didForms(text: string): Forms {
  const [, method = '', first = '', ...rest] = text.split(':')
  const kind = method.toLowerCase()
  if (kind === 'mailto') {
    // did:mailto:example.com:alice is alice@example.com.
    const mail = mailForms(`${decoded(rest.join(':'))}@${decoded(first)}`)
    if (mail !== undefined) return mail
  }
  if (kind === 'web') {
    const host = decoded(first).replace(/:\d+$/, '')
    const path = rest.map((part) => `:${part}`).join('')
    return [`did:web:${first.toLowerCase()}${path}`, ...hostForms(host)]
  }
  return [`did:${kind}:${[first, ...rest].join(':')}`]
}

/** By the last @: in `"x@y"@b.test` the domain is b.test. */
function mailForms(text: string): Forms | undefined {
  const at = text.lastIndexOf('@')
  if (at < 1 || at === text.length - 1 || /\s/.test(text.slice(at))) return undefined
  const host = text.slice(at + 1)
  const domains = hostForms(host)
  const domain = domains[0]?.replace(/^[a-z]+:/, '') ?? host.toLowerCase()
  return [`mail:${text.slice(0, at).toLowerCase()}@${domain}`, ...domains]
}

/** What a URL names is one thing with or without a fragment, a password or a default port. */
function urlForms(text: string): Forms {
  if (!URL.canParse(text)) return [`text:${text}`]
  const { protocol, host, hostname, pathname, search } = new URL(text)
  const port = host.slice(hostname.length)
  const name = hostname.replace(/\.$/, '').toLowerCase()
  return [`url:${protocol}//${name}${port}${pathname}${search}`, ...hostForms(name)]
}

function hostForms(host: string): readonly string[] {
  const address = canonicalAddress(host.replace(/^\[(.*)\]$/, '$1'))
  return address === undefined ? (nameForms(host) ?? []) : [`ip:${address}`]
}

/**
 * Only what has a dot and does not end in a number: `12345` may be an account, and `127.1` is an
 * address to some readers and nothing to others.
 */
function nameForms(text: string): Forms | undefined {
  const bare = text.replace(/[.\u3002\uff0e\uff61]$/, '')
  const name = /[\s/@:]/.test(bare) ? '' : domainToASCII(bare)
  const labels = name.split('.')
  if (labels.length < 2 || labels.includes('') || /^\d/.test(labels.at(-1) ?? '')) return undefined
  const parents = labels.slice(1, -1).map((_, index) => `name:${labels.slice(index + 1).join('.')}`)
  return [`name:${name}`, ...parents.slice(-MAX_PARENTS)]
}

/** Malformed escapes stay as they are: whoever wrote them must still be found under them. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
