/** What a domain allows: a pure function over a small state, which the domain's record keeps as text. */
import type { Instant, Value, Wait } from '../core/index.ts'

export interface Rule {
  /** Without state there is nothing to charge, and requests need not wait for each other. */
  readonly stateful: boolean
  /** Answers only; whoever charges writes `next`. `nonce` is the attempt's index where there is one. */
  attempt(state: Value | undefined, now: Instant, nonce?: number): Attempt
  /** How many attempts were made: a nonce below it was used up. */
  counter(state: Value | undefined): number
  /** What the client is told, apart from `disabled`. */
  status(state: Value | undefined, now: Instant): Status
}

export type Attempt =
  | { readonly allowed: true; readonly next?: Value }
  | { readonly allowed: false; readonly retryIn: Wait }

export type Status = Readonly<Record<string, number | boolean | string>>
