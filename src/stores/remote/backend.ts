/**
 * What a store on another machine must offer: to compare and set, and to look. Everything else about
 * running steps far away is written once, in `optimist.ts`.
 */
import type { Append, Key, Value, Write } from '../../core/store.ts'
import { type Instant, millis, minutes, type Span, seconds } from '../../core/time.ts'

/**
 * A key is kept this much longer than it need be: a guess of some server must not fail because the key was
 * forgotten on time. Without it half of all guesses at short-lived keys did.
 */
export const GRACE: Span = minutes(1)

/** What some calls decided together, because they share keys: applied whole, or not at all. */
export interface Part {
  /** Every key that was read, and what it was taken to hold; undefined: nothing. */
  readonly expected: ReadonlyMap<Key, Value | undefined>
  /** Keys that were guessed and not read: not compared, but shown with a conflict. */
  readonly guessed: readonly Key[]
  readonly writes: readonly Write[]
  readonly appends: readonly Append[]
  /** It has lost often: if it loses again, the keys that it read are kept for us for `CLAIM`. */
  readonly claims: boolean
}

/**
 * `conflict`: something was not as expected, or is kept for another server (`claimed`), so nothing was
 * applied; `current` is what there is now, as `expected`, then `guessed`.
 */
export type PartOutcome =
  | { readonly kind: 'applied' }
  | {
      readonly kind: 'conflict'
      readonly current: readonly (Value | undefined)[]
      readonly claimed: boolean
    }

interface PartsReply {
  /** The server's time, read once nobody could come between. */
  readonly now: Instant
  readonly outcomes: readonly PartOutcome[]
}

interface LookReply {
  readonly now: Instant
  readonly values: readonly (Value | undefined)[]
}

/** The time that steps saw. */
export interface DecidedAt {
  readonly now: Instant
  /** From a clock that overrides the server's, as in tests: then the server does not judge it. */
  readonly overridden: boolean
  /** How much older than its commit it may be. */
  readonly maxAge: Span
}

export interface Backend {
  /**
   * One round trip. Each part is compared and applied alone; durable, where the server is, before it
   * answers. Where the steps were decided ahead of the server's time or far behind it, every part is a
   * conflict. Rejects with a `StoreError` if it is not known what happened.
   */
  commit(parts: readonly Part[], decided: DecidedAt): Promise<PartsReply>

  /** One round trip: all values of one moment. */
  look(keys: readonly Key[]): Promise<LookReply>
}

/**
 * A decision is at most this much older than its commit. A step that waited longer, as in a process
 * that was stopped, runs again, and may then be older by as much for each loss: or a trip that always
 * takes longer would never arrive.
 */
export const MAX_DECISION_AGE: Span = seconds(1)

/**
 * How long keys are kept for a server that lost them often: enough for a far one to come back with its
 * next try, short for all others if it never does.
 */
export const CLAIM: Span = millis(250)
