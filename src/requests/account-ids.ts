/** Ids that begin with an ACME account: the account alone, or the account and what it asks for. */
import { fault, type Parsed } from './fault.ts'

/** Decimal, up to 2^64 − 1, without leading zeros: `007` would never equal the account 7. */
export const parseRegId = (text: string): Parsed =>
  REG_ID.test(text) && (text.length < 20 || BigInt(text) <= MAX_REG_ID) ? text : REG_ID_FAULT

/** `12345:example.com`. Split at the first colon only: an IPv6 address has colons of its own. */
export const parsePair = (text: string, parseRest: (rest: string) => Parsed): Parsed => {
  const colon = text.indexOf(':')
  if (colon < 0) return fault('must be an account, a colon, and a domain name or IP address')
  const account = parseRegId(text.slice(0, colon))
  if (typeof account !== 'string') return account
  const rest = parseRest(text.slice(colon + 1))
  return typeof rest === 'string' ? `${account}:${rest}` : rest
}

/** Overrides are for a whole account: one for `12345:example.com` would never be looked up. */
export const parsePairOverride = (text: string): Parsed =>
  text.includes(':') ? PAIR_OVERRIDE_FAULT : parseRegId(text)

export const accountOf = (pair: string): string => pair.slice(0, pair.indexOf(':'))

const REG_ID = /^(?:0|[1-9]\d{0,19})$/
const MAX_REG_ID = 2n ** 64n - 1n
const REG_ID_FAULT = fault('must be an account number from 0 to 2^64-1 without leading zeros')
const PAIR_OVERRIDE_FAULT = fault('must be an account number alone: overrides apply to an account')
