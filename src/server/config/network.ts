/** Hosts, ports, proxies and links, as settings give them. */
import { isIP } from 'node:net'
import { refuseField } from '../../documents/field.ts'
import { readText } from '../../documents/scalars.ts'
import {
  formatted,
  listOf,
  type Reader,
  refuseText,
  type TextReader,
  wholeNumberIn,
} from '../../documents/settings/reader.ts'

export const hostName = formatted({
  parse: (text) => (isHost(text) ? text : undefined),
  rule: 'must be a host name or an address',
  schema: {},
})

export const portNumber = wholeNumberIn({ min: 0, max: 65_535 })

export const httpLink = formatted({
  parse: (text) => (isLink(text) ? text : undefined),
  rule: 'must be an http or https address',
  schema: { pattern: '^https?://' },
})

/** Every request from a proxy is compared with each; a longer list wants prefixes. */
const MAX_TRUSTED_PROXIES = 256

const proxy: Reader<string> = {
  fromField: (field) => {
    const text = readText(field)
    if (isProxy(text)) return text
    return refuseField(field, 'FIELD_VALUE', 'must be an address or a prefix such as 10.0.0.0/8')
  },
  schema: { type: 'string' },
}

/** A list in the file; in a flag or variable, with commas. */
export const proxyList: TextReader<readonly string[]> = {
  ...listOf(proxy, MAX_TRUSTED_PROXIES),
  fromText: (given) => {
    const proxies = given.text.split(',').map((word) => word.trim())
    return proxies.every(isProxy)
      ? proxies
      : refuseText(given, 'must hold addresses and prefixes, with commas between them')
  },
}

/** As a URL holds it: IPv6 in brackets. */
export const urlHost = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

const isHost = (text: string): boolean =>
  isIP(text) !== 0 || /^(?!-)[A-Za-z0-9.-]{1,253}$/.test(text)

function isProxy(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** It goes into a header in angle brackets, hence none of its own. */
const isLink = (text: string): boolean =>
  /^https?:\/\/[\x21-\x7e]+$/.test(text) && !/[<>"]/.test(text) && URL.canParse(text)
