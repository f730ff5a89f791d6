/**
 * The headers of an answer: the fields of draft 10, or for clients that know no other, the older
 * forms: drafts 6 and 7 of draft-ietf-httpapi-ratelimit-headers, and `X-RateLimit-*`.
 */
import { capacity, type GcraLimit } from '../core/gcra.ts'
import { after, type Clock, span, toSeconds } from '../core/time.ts'
import { rateFields } from '../requests/headers.ts'
import type { Answer, ChargeAnswer } from '../requests/limiter/charge.ts'

export const HEADER_FORMS = ['draft-10', 'draft-7', 'draft-6', 'x-ratelimit'] as const

export type HeaderForm = (typeof HEADER_FORMS)[number]

export interface HeaderLine {
  readonly name: string
  readonly value: string
  /** The field is a list: what an earlier gate of the same request put there stays. */
  readonly joins?: true
}

/** `Retry-After` is among them whatever the forms: it is of HTTP itself. */
export const headerLines = (
  answer: Answer,
  forms: readonly HeaderForm[],
  clock: Clock,
): readonly HeaderLine[] => {
  const lines: HeaderLine[] = []
  const { policy, state, retryAfter } = rateFields(answer)
  for (const form of forms) {
    if (form === 'draft-10') {
      if (policy !== undefined) lines.push({ name: 'RateLimit-Policy', value: policy, joins: true })
      if (state !== undefined) lines.push({ name: 'RateLimit', value: state, joins: true })
    } else {
      const binding = bindingCharge(answer)
      if (binding !== undefined) lines.push(...olderForm(form, binding, clock))
    }
  }
  if (retryAfter !== undefined) lines.push({ name: 'Retry-After', value: retryAfter })
  return lines
}

/** The value to set where the reply has `old` already. */
export const joined = ({ value, joins }: HeaderLine, old: unknown): string =>
  joins === true && typeof old === 'string' && old !== '' ? `${old}, ${value}` : value

type LimitedCharge = ChargeAnswer & {
  readonly policy: Pick<GcraLimit, 'burst' | 'count' | 'period'>
}

/** The older forms have room for one limit: the one that binds first. Shadows bind nothing. */
function bindingCharge({ charges }: Answer): LimitedCharge | undefined {
  let binding: LimitedCharge | undefined
  for (const charge of charges) {
    if (!isLimited(charge)) continue
    if (binding === undefined || binds(charge, binding)) binding = charge
  }
  return binding
}

function isLimited(charge: ChargeAnswer): charge is LimitedCharge {
  const { policy, remaining, shadow } = charge
  return policy !== undefined && shadow === undefined && Number.isFinite(remaining)
}

function binds(a: ChargeAnswer, b: ChargeAnswer): boolean {
  return a.allowed === b.allowed ? a.remaining < b.remaining : !a.allowed
}

function olderForm(
  form: Exclude<HeaderForm, 'draft-10'>,
  { policy, remaining, allowed, resetIn, retryIn }: LimitedCharge,
  clock: Clock,
): readonly HeaderLine[] {
  const quota = policy.burst
  const window = toSeconds(capacity({ kind: 'gcra', ...policy }))
  const wait = allowed ? resetIn : retryIn
  const reset = wait === 'never' ? undefined : toSeconds(wait)
  const line = (name: string, value: string | number) => ({ name, value: String(value) })
  const trio = (prefix: string, at: number | undefined): readonly HeaderLine[] => [
    line(`${prefix}-Limit`, quota),
    line(`${prefix}-Remaining`, remaining),
    ...(at === undefined ? [] : [line(`${prefix}-Reset`, at)]),
  ]
  switch (form) {
    case 'draft-7': {
      const until = reset === undefined ? '' : `, reset=${reset}`
      return [
        line('RateLimit-Policy', `${quota};w=${window}`),
        line('RateLimit', `limit=${quota}, remaining=${remaining}${until}`),
      ]
    }
    case 'draft-6':
      return [line('RateLimit-Policy', `${quota};w=${window}`), ...trio('RateLimit', reset)]
    case 'x-ratelimit': {
      const at = wait === 'never' ? undefined : toSeconds(span(after(clock(), wait)))
      return trio('X-RateLimit', at)
    }
    default:
      return form satisfies never
  }
}
