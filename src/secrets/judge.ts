/** Whether a request may be answered, given what is kept of its domain. Pure; the caller charges. */
import type { Instant, Value } from '../core/index.ts'
import type { Conduct, Turn } from './claim.ts'
import type { DomainRecord } from './domain-record.ts'
import { type Refusal, refused } from './refusal.ts'
import type { Rule, Status } from './rule.ts'

export interface Matter {
  readonly rule: Rule
  readonly turn: Turn
  /** The signing hash, in hexadecimal. */
  readonly hash: string
  readonly conduct: Conduct
}

export type Judgement =
  /** `next` is the rule's state afterwards; absent where the rule keeps none. */
  | { readonly kind: 'admitted'; readonly next?: Value }
  /** Answered before: answered again, and nothing is charged. */
  | { readonly kind: 'retry' }
  | Refusal

/**
 * Disabled outranks all else, and an exact retry outranks the nonce it has used up. The deployed
 * service looks at the nonce first, so there such a retry is refused.
 */
export const judge = (record: DomainRecord, now: Instant, matter: Matter): Judgement => {
  const status = statusOf(record, now, matter.rule)
  const disabled = () =>
    record.disabled
      ? refused('DOMAIN_DISABLED', 'the domain was disabled for good', { status })
      : undefined
  const retry = (): Judgement | undefined =>
    record.answered.includes(matter.hash) ? { kind: 'retry' } : undefined
  const nonce = () => checkTurn(record, matter, status)
  const checks = matter.conduct === 'celo' ? [nonce, disabled, retry] : [disabled, retry, nonce]
  for (const check of checks) {
    const found = check()
    if (found !== undefined) return found
  }
  return attempt(record, now, matter, status)
}

export const statusOf = (record: DomainRecord, now: Instant, rule: Rule): Status => ({
  ...rule.status(record.quota, now),
  disabled: record.disabled,
})

function checkTurn(record: DomainRecord, { rule, turn }: Matter, status: Status) {
  if (turn.kind === 'none' || (turn.nonce === undefined && !turn.required)) return undefined
  const counter = rule.counter(record.quota)
  if (turn.nonce !== undefined && turn.nonce >= counter) return undefined
  const found = turn.nonce ?? 'none'
  return refused('NONCE_INVALID', `nonce: must be at least ${counter}, found ${found}`, { status })
}

function attempt(
  { quota }: DomainRecord,
  now: Instant,
  { rule, turn }: Matter,
  status: Status,
): Judgement {
  const found = rule.attempt(quota, now, turn.kind === 'index' ? turn.nonce : undefined)
  if (found.allowed) {
    return found.next === undefined ? { kind: 'admitted' } : { kind: 'admitted', next: found.next }
  }
  if (found.retryIn === 'never') {
    return refused('OVER_QUOTA', 'the domain has no attempts left', { status })
  }
  const message = 'the next attempt is not due yet'
  return refused('OVER_QUOTA', message, { status, retryIn: found.retryIn })
}
