/**
 * The headers of a decision: `RateLimit-Policy` and `RateLimit` as in
 * draft-ietf-httpapi-ratelimit-headers-10, `Retry-After` (RFC 9110), and a `Link` for help.
 * Runs in browsers and workers too: it uses nothing of Node.
 */
import { assert } from '../core/errors.ts'
import { capacity } from '../core/gcra.ts'
import { toSeconds } from '../core/time.ts'
import type { Answer, ChargeAnswer } from './limiter/charge.ts'

/** Proxies cut headers at 4 or 8 KiB, and a client that charges more limits than this reads the body. */
export const MAX_HEADER_ITEMS = 16

/** Where headers are set: the reply of a server, or anything like it. */
export interface HeaderBag {
  header(name: string, value: string): unknown
}

/** By name; what does not apply is left out. Fits `new Headers()`, `res.set()` and their like. */
export type RateHeaders = Readonly<Record<string, string>>

/** The values by themselves. What is left out is undefined. */
export interface RateFields {
  readonly policy: string | undefined
  readonly state: string | undefined
  readonly retryAfter: string | undefined
}

/**
 * The headers of an answer, for any framework.
 *
 * @example
 * import { limiter, memory, rateHeaders } from 'headgate'
 *
 * const logins = limiter({ store: memory(), limits: { Logins: { burst: 3, period: '1m' } } })
 * const answer = await logins.spend('Logins', 'ann')
 * const status = answer.allowed ? 204 : 429
 * const response = new Response(null, { status, headers: { ...rateHeaders(answer) } })
 * console.log(response.headers.get('RateLimit'))
 */
export const rateHeaders = (answer: Answer, helpLink?: string): RateHeaders => {
  const headers: Record<string, string> = {}
  const header = (name: string, value: string): void => {
    headers[name] = value
  }
  setRateHeaders({ header }, answer, helpLink)
  return headers
}

export const setRateHeaders = (reply: HeaderBag, answer: Answer, helpLink?: string): void => {
  const { policy, state, retryAfter } = rateFields(answer)
  if (policy !== undefined) reply.header('RateLimit-Policy', policy)
  if (state !== undefined) reply.header('RateLimit', state)
  if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
  if (helpLink !== undefined && !answer.allowed) reply.header('Link', `<${helpLink}>; rel="help"`)
}

export const rateFields = (answer: Answer): RateFields => {
  const charges = answer.charges.some(isShadow)
    ? answer.charges.filter((charge) => !isShadow(charge))
    : answer.charges
  const shown = charges.length > 1 ? strictestOfEach(charges) : charges
  return {
    policy: list(shown, policyItem),
    state: list(shown, stateItem),
    retryAfter: retryAfter(answer),
  }
}

/** Not for clients: one that slows down by itself would hide what the limit would have refused. */
const isShadow = ({ shadow }: ChargeAnswer): boolean => shadow === true

/** Joined without an array: nearly every decision has one item. */
function list(
  charges: readonly ChargeAnswer[],
  item: (charge: ChargeAnswer) => string | undefined,
): string | undefined {
  let text: string | undefined
  for (const charge of charges) {
    const one = item(charge)
    if (one !== undefined) text = text === undefined ? one : `${text}, ${one}`
  }
  return text
}

/** The quota, and the seconds in which an empty bucket fills. */
function policyItem({ limit, policy }: ChargeAnswer): string | undefined {
  if (policy === undefined) return undefined
  const window = toSeconds(capacity({ kind: 'gcra', ...policy }))
  return `${fieldString(limit)};q=${fieldInteger(policy.burst)};w=${fieldInteger(window)}`
}

/**
 * What may be spent within the next `t` seconds: until the bucket is full again or, after a
 * refusal, until the same cost fits. So `Retry-After` never comes before `t`.
 */
function stateItem(charge: ChargeAnswer): string | undefined {
  const { limit, policy, remaining, allowed } = charge
  if (policy === undefined || !Number.isFinite(remaining)) return undefined
  const wait = allowed ? charge.resetIn : charge.retryIn
  const item = `${fieldString(limit)};r=${fieldInteger(remaining)}`
  return wait === 'never' ? item : `${item};t=${fieldInteger(toSeconds(wait))}`
}

/** A refund that found nothing to give back will find no more later. */
function retryAfter({ allowed, reason, retryIn }: Answer): string | undefined {
  if (allowed || reason === 'NOTHING_TO_RETURN' || retryIn === 'never') return undefined
  return String(toSeconds(retryIn))
}

/** A limit that was charged for several ids shows the one that binds first. */
function strictestOfEach(charges: readonly ChargeAnswer[]): readonly ChargeAnswer[] {
  const byLimit = new Map<string, ChargeAnswer>()
  for (const charge of charges) {
    const seen = byLimit.get(charge.limit)
    if (seen === undefined && byLimit.size === MAX_HEADER_ITEMS) continue
    if (seen === undefined || binds(charge, seen)) byLimit.set(charge.limit, charge)
  }
  return [...byLimit.values()]
}

function binds(a: ChargeAnswer, b: ChargeAnswer): boolean {
  return a.allowed === b.allowed ? a.remaining < b.remaining : !a.allowed
}

/** The largest integer of a structured field (RFC 9651): fifteen digits. */
export const MAX_FIELD_INTEGER = 999_999_999_999_999

/** A string of a structured field (RFC 9651), which holds only ASCII. */
export const fieldString = (text: string): string => {
  if (PLAIN.test(text)) return `"${text}"`
  assert(PRINTABLE.test(text), 'a structured string is printable ASCII')
  return `"${text.replace(SPECIAL, '\\$&')}"`
}

/** Larger numbers become the largest: a quota beyond it limits no one. */
export const fieldInteger = (value: number): number => Math.min(value, MAX_FIELD_INTEGER)

/** Every name of a limit is plain. */
const PLAIN = /^[\w.-]*$/
const PRINTABLE = /^[\x20-\x7e]*$/
const SPECIAL = /["\\]/g
