/** What the limiter answers: one answer for the batch, and one for each charge. */
import {
  type BatchVerdict,
  type Decision,
  type GcraLimit,
  type RefusalReason,
  span,
  type Wait,
} from '../core/index.ts'
import type { ResolvedAsk } from './ask.ts'
import type { Bucket } from './catalog.ts'

/**
 * Beyond the engine's reasons:
 * - `disabled`: the limit has no default and no override for this id; allowed.
 * - `blocked`: a subject that the charge names is blocked; no waiting helps.
 * - `store-unavailable`: the store is down and every limit asked is `onStoreFailure: open`; allowed.
 */
export type Reason = RefusalReason | 'disabled' | 'blocked' | 'store-unavailable'

export interface Outlook {
  readonly allowed: boolean
  readonly reason?: Reason
  /** Tokens left; infinite where no limit is in force. */
  readonly remaining: number
  readonly retryIn: Wait
  readonly resetIn: Wait
}

export interface ChargeAnswer extends Outlook {
  readonly limit: string
  readonly id: string
  readonly bucket: string
  readonly cost: number
  readonly mode: ResolvedAsk['mode']
  readonly source: Bucket['source']
  readonly policy?: Pick<GcraLimit, 'burst' | 'count' | 'period'>
}

export interface Answer extends Outlook {
  /** One for each charge, in order. */
  readonly charges: readonly ChargeAnswer[]
  /** The names of all limits that refused, not only the strictest. */
  readonly violated: readonly string[]
  /** This is the remembered answer to an earlier call with the same operation id. */
  readonly replayed?: true
}

/** Charges without a limit in force took no part in the verdict. */
export const toAnswer = (asks: readonly ResolvedAsk[], verdict?: BatchVerdict): Answer => {
  let position = 0
  const charges = asks.map((ask) => {
    const decision = ask.bucket.limit === undefined ? undefined : verdict?.decisions[position++]
    return describe(ask, decision === undefined ? unlimited('disabled') : outlook(decision))
  })
  const whole = verdict === undefined ? unlimited('disabled') : outlook(verdict.decision)
  return combine(whole, charges, verdict === undefined ? [] : namesOf(charges, verdict))
}

/** The answer that a failed store leaves, where policy says that callers must not suffer from it. */
export const openAnswer = (asks: readonly ResolvedAsk[]): Answer => {
  const open = unlimited('store-unavailable')
  return combine(
    open,
    asks.map((ask) => describe(ask, open)),
    [],
  )
}

/** Nothing was asked of any bucket: what the others would have said is not known. */
export const blockedAnswer = (
  asks: readonly ResolvedAsk[],
  blocked: ReadonlySet<number>,
): Answer => {
  const refused: Outlook = {
    allowed: false,
    reason: 'blocked',
    remaining: 0,
    retryIn: 'never',
    resetIn: 'never',
  }
  const charges = asks.map((ask) => describe(ask, refused))
  const names = charges.filter((_, i) => blocked.has(i)).map((charge) => charge.limit)
  return combine(refused, charges, names)
}

function namesOf(charges: readonly ChargeAnswer[], { violated }: BatchVerdict): readonly string[] {
  if (violated.length === 0) return []
  const limited = charges.filter((charge) => charge.source !== 'disabled')
  return violated.flatMap((i) => limited[i]?.limit ?? [])
}

// Field by field from here on: spreading three objects a charge cost a quarter of an answer's time.

function combine(facts: Outlook, charges: Answer['charges'], violated: Answer['violated']): Answer {
  const { allowed, reason, remaining, retryIn, resetIn } = facts
  return reason === undefined
    ? { allowed, remaining, retryIn, resetIn, charges, violated }
    : { allowed, reason, remaining, retryIn, resetIn, charges, violated }
}

function describe({ bucket, cost, mode }: ResolvedAsk, facts: Outlook): ChargeAnswer {
  const { definition, id, key, limit: policy, source } = bucket
  const { allowed, reason, remaining, retryIn, resetIn } = facts
  return {
    limit: definition.name,
    id,
    bucket: key,
    cost,
    mode,
    source,
    allowed,
    remaining,
    retryIn,
    resetIn,
    ...(policy === undefined ? undefined : { policy }),
    ...(reason === undefined ? undefined : { reason }),
  }
}

function unlimited(reason: Reason): Outlook {
  const remaining = Number.POSITIVE_INFINITY
  return { allowed: true, reason, remaining, retryIn: span(0), resetIn: span(0) }
}

function outlook(decision: Decision): Outlook {
  const { retryIn, resetIn } = decision
  const remaining = Number(decision.remaining)
  return decision.allowed
    ? { allowed: true, remaining, retryIn, resetIn }
    : { allowed: false, reason: decision.reason, remaining, retryIn, resetIn }
}
