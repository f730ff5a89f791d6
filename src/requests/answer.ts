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
 * - `store-unavailable`: the store is down and every limit asked is `onStoreFailure: open`; allowed.
 */
export type Reason = RefusalReason | 'disabled' | 'store-unavailable'

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

const UNLIMITED: Outlook = {
  allowed: true,
  remaining: Number.POSITIVE_INFINITY,
  retryIn: span(0),
  resetIn: span(0),
}

/** Charges without a limit in force took no part in the verdict. */
export const toAnswer = (
  asks: readonly ResolvedAsk[],
  verdict: BatchVerdict | undefined,
): Answer => {
  let position = 0
  const charges = asks.map((ask) => {
    const decision = ask.bucket.limit === undefined ? undefined : verdict?.decisions[position++]
    return describe(ask, decision === undefined ? unlimited('disabled') : outlook(decision))
  })
  const limited = charges.filter((charge) => charge.source !== 'disabled')
  return {
    ...(verdict === undefined ? unlimited('disabled') : outlook(verdict.decision)),
    charges,
    violated: (verdict?.violated ?? []).flatMap((i) => limited[i]?.limit ?? []),
  }
}

/** The answer that a failed store leaves, where policy says that callers must not suffer from it. */
export const openAnswer = (asks: readonly ResolvedAsk[]): Answer => ({
  ...unlimited('store-unavailable'),
  charges: asks.map((ask) => describe(ask, unlimited('store-unavailable'))),
  violated: [],
})

function describe({ bucket, cost, mode }: ResolvedAsk, facts: Outlook): ChargeAnswer {
  const { definition, id, key, limit, source } = bucket
  return {
    limit: definition.name,
    id,
    bucket: key,
    cost,
    mode,
    source,
    ...(limit === undefined
      ? {}
      : { policy: { burst: limit.burst, count: limit.count, period: limit.period } }),
    ...facts,
  }
}

function unlimited(reason: Reason): Outlook {
  return { ...UNLIMITED, reason }
}

function outlook(decision: Decision): Outlook {
  const { allowed, remaining, retryIn, resetIn } = decision
  const facts = { allowed, remaining: Number(remaining), retryIn, resetIn }
  return decision.allowed ? facts : { ...facts, reason: decision.reason }
}
