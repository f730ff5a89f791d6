/**
 * The headers of a decision: `RateLimit-Policy` and `RateLimit` as in
 * draft-ietf-httpapi-ratelimit-headers-10, `Retry-After` (RFC 9110), and a `Link` for help.
 */
import { capacity, toSeconds } from '../../core/index.ts'
import type { Answer, ChargeAnswer } from '../../requests/index.ts'
import { MAX_HEADER_ITEMS } from './bounds.ts'
import { fieldInteger, fieldString } from './structured-field.ts'

/** What is left out is undefined. */
export interface RateHeaders {
  readonly policy: string | undefined
  readonly state: string | undefined
  readonly retryAfter: string | undefined
}

/** The part of a reply that headers go to. */
export interface HeaderBag {
  header(name: string, value: string): unknown
}

export const setRateHeaders = (reply: HeaderBag, answer: Answer, helpLink?: string): void => {
  const { policy, state, retryAfter } = rateHeaders(answer)
  if (policy !== undefined) reply.header('RateLimit-Policy', policy)
  if (state !== undefined) reply.header('RateLimit', state)
  if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
  if (helpLink !== undefined && !answer.allowed) reply.header('Link', `<${helpLink}>; rel="help"`)
}

export const rateHeaders = (answer: Answer): RateHeaders => {
  const { charges } = answer
  const shown = charges.length > 1 ? strictestOfEach(charges) : charges
  return {
    policy: list(shown, policyItem),
    state: list(shown, stateItem),
    retryAfter: retryAfter(answer),
  }
}

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
  if (allowed || reason === 'full' || retryIn === 'never') return undefined
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
