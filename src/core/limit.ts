/** What a limit is, what one may ask of it, and what it answers. */
import type { BudgetLimit, BudgetState } from './budget.ts'
import type { GcraLimit, GcraState } from './gcra.ts'
import type { StagedLimit, StagedState } from './staged.ts'
import type { Instant, Span, Wait } from './time.ts'

export type Limit = GcraLimit | StagedLimit | BudgetLimit
export type LimitState = GcraState | StagedState | BudgetState

/** Tokens and attempts are numbers; money is a bigint. */
export type Amount = number | bigint

/**
 * - `spend`: charge if it fits; if not, refuse.
 * - `check`: answer as `spend` would. Writes nothing and promises nothing about the next call.
 * - `try`: charge if it fits and the batch is allowed; never refuses the batch.
 * - `record`: charge even past the cap: it has already happened.
 * - `refund`: give back.
 */
export type Mode = 'spend' | 'check' | 'try' | 'record' | 'refund'

export interface Question<Cost extends Amount = Amount> {
  readonly now: Instant
  readonly cost: Cost
  readonly mode: Mode
  /** With `refund`: of the charge to give back. Without it the refund is undated, an operator's act. */
  readonly date?: ChargeDate
}

/** When a charge was made on a bucket, in which of its fillings, and at which interval. */
export interface ChargeDate {
  readonly at: Instant
  readonly since: Instant
  readonly interval: Span
}

/**
 * - `RATE_LIMIT`: the bucket holds too few tokens now.
 * - `COST_ABOVE_BURST`: the cost is above the burst; no waiting helps.
 * - `NOT_DUE`: the next attempt is not due yet.
 * - `EXHAUSTED`: all stages are used up.
 * - `DISABLED`: the staged limit was switched off for good.
 * - `BUDGET_LIMIT`: what is left of the budget does not cover the cost.
 * - `NOTHING_TO_RETURN`: a refund found nothing to give back: the bucket is full, or time forgave the charge.
 */
export type RefusalReason =
  | 'RATE_LIMIT'
  | 'COST_ABOVE_BURST'
  | 'NOT_DUE'
  | 'EXHAUSTED'
  | 'DISABLED'
  | 'BUDGET_LIMIT'
  | 'NOTHING_TO_RETURN'

export interface Allowed {
  readonly allowed: true
  readonly remaining: Amount
  /** Until the limit is as if never used. */
  readonly resetIn: Wait
  /** Until the same cost would fit again. */
  readonly retryIn: Wait
}

export interface Refused {
  readonly allowed: false
  readonly reason: RefusalReason
  readonly remaining: Amount
  readonly resetIn: Wait
  /** Until this cost would fit. */
  readonly retryIn: Wait
}

export type Decision = Allowed | Refused

export interface Outcome<State = LimitState> {
  readonly decision: Decision
  /** What to write; absent: nothing changes. */
  readonly next?: State
  /** From when `next` may be forgotten without changing any answer; absent: never. */
  readonly expiresAt?: Instant
}
