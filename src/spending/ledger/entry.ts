/**
 * Ledger entries: what happened, never changed afterwards. Double entry: each move takes from one
 * pot what it puts into another, on every budget of the party alike.
 */
import type { Instant } from '../../core/time.ts'
import type { CanonicalMatter, Note } from '../flow/ask.ts'
import type { Party } from '../flow/balances.ts'
import type { Allowance, Plan } from '../plans/plan.ts'
import type { SpendingWindow } from '../windows/calendar.ts'
import type { Checkpoint } from './checkpoint.ts'

/**
 * - `rollover`: allowance moves on from one window to a later one, or is taken back.
 * - `forfeit`: what a hold gave back of a grant that had expired.
 * - `reading`: the operator's balance, as it was told.
 * - `reverse`: a booking, or part of it, is taken back.
 * - `void`: what is left of a grant is taken back.
 * - `change`, `retire`: a plan that was created while Headgate ran is another from then on, or pays no more.
 * - `checkpoint`: stands for entries that were compacted.
 */
export type EntryKind =
  | 'grant'
  | 'hold'
  | 'capture'
  | 'settle'
  | 'release'
  | 'forfeit'
  | 'rollover'
  | 'reading'
  | 'reverse'
  | 'void'
  | 'change'
  | 'retire'
  | 'adjust'
  | 'checkpoint'

/** Money that may be spent, is kept aside, is gone; and what was given beyond the limit, or lost. */
export type Pot = 'available' | 'held' | 'spent' | 'issued' | 'granted' | 'carried' | 'forfeited'

export interface Move {
  readonly from: Pot
  readonly to: Pot
  readonly amount: bigint
}

/** What a charge took out of one grant, or a hold keeps aside in it. */
export interface Draw {
  readonly grant: string
  readonly amount: bigint
}

/**
 * - `late`: charged after the hold had expired, or after the window had ended.
 * - `overage`: more than was held, or recorded than the plan had left.
 * - `expired`: what it gives back of the hold, time had given back already.
 * - `extended`: the hold takes the place of another.
 */
export type EntryFlag = 'late' | 'overage' | 'expired' | 'extended'

/** What money can be booked by under an operation id, and so be taken back. */
export type BookingVerb = 'record' | 'capture' | 'hold'

/** What one budget of a window came to, whose entries were compacted. */
export interface WindowSum {
  readonly window: Instant
  readonly budget: string
  readonly spent: bigint
}

/** The operator's balance at a time, and what the payer had paid by then. */
export interface KeptReading {
  readonly amount: bigint
  readonly at: Instant
  readonly spentThen: bigint
}

/** Which window it is from an entry on. */
export interface OpenedWindow {
  readonly origin: Instant
  readonly window: SpendingWindow
  readonly previous?: SpendingWindow | undefined
}

export interface EntryDraft {
  readonly kind: EntryKind
  readonly window: Instant
  readonly moves: readonly Move[]
  readonly party?: Party | undefined
  /** What a capture paid for, where that is not what its hold was for. */
  readonly paid?: CanonicalMatter | undefined
  readonly hold?: string | undefined
  /** When that hold, or the grant that was given, ends by itself. */
  readonly expiresAt?: Instant | undefined
  readonly operationId?: string | undefined
  /** The operation id of what a `reverse` takes back. */
  readonly reverses?: string | undefined
  /** What that was: one id may name a hold and its capture. */
  readonly booked?: BookingVerb | undefined
  /** When it happened, where it was told later. */
  readonly happened?: Instant | undefined
  readonly note?: Note | undefined
  readonly flags?: readonly EntryFlag[] | undefined
  readonly grant?: string | undefined
  /** Of a grant: lower is used first. */
  readonly priority?: number | undefined
  /** Spent from grants by this entry, in its window. On a `grant`, what it paid of what was owed. */
  readonly draws?: readonly Draw[] | undefined
  /** Kept aside in grants by a `hold`, with its end; on other kinds, no longer kept aside. */
  readonly pins?: readonly Draw[] | undefined
  /** What a charge took that neither the limit nor grants had: a later grant pays it. Below zero where it is reversed. */
  readonly owed?: bigint | undefined
  /** The plan's limit in this window, where it was written down with this entry. */
  readonly limit?: Allowance | undefined
  /**
   * Of a `rollover`: the window that it comes from. Absent: one in which nothing was charged. Of a charge
   * to a hold whose window was compacted: that one.
   */
  readonly from?: Instant | undefined
  /** Of a `rollover`: the first window of those that carried on to each other up to this one. */
  readonly since?: Instant | undefined
  /** Of a `capture` from a hold: the sum of its captures, with this one. */
  readonly captured?: bigint | undefined
  /** Of a `settle`: what it named. */
  readonly final?: bigint | 'captured' | undefined
  readonly reading?: KeptReading | undefined
  /** A plan as it is kept from this entry on. */
  readonly kept?: Plan | undefined
  /** The member that an `adjust` linked to the plan, or unlinked from it. */
  readonly link?: { readonly member: string; readonly linked: boolean } | undefined
  /** On the first entry in a window, as far as calendars go: a late charge may be of an older one. */
  readonly opens?: OpenedWindow | undefined
  /** Of an operator's act: how long its operation id is remembered. */
  readonly until?: Instant | undefined
  readonly checkpoint?: Checkpoint | undefined
  /** Of what a checkpoint replaces: all that reports show. */
  readonly sums?: readonly WindowSum[] | undefined
  /** For people: what an adjustment did. */
  readonly detail?: string | undefined
}

export interface LedgerEntry extends EntryDraft {
  /** From 1, without gaps: a missing number is a missing entry. */
  readonly seq: number
  readonly at: Instant
  /** The hash of the entry before it, as it is kept; '' in the first. */
  readonly prev: string
  /** The number of the same plan's entry before it: a plan's history is read from its end. */
  readonly planPrev?: number | undefined
}

/** Who may spend, what was given and by whom, and what vouches for what is gone: kept for good. */
export const outlivesCompaction = ({ kind }: Pick<EntryDraft, 'kind'>): boolean => {
  switch (kind) {
    case 'grant':
    case 'adjust':
    case 'reverse':
    case 'void':
    case 'change':
    case 'retire':
    case 'checkpoint':
      return true
    case 'hold':
    case 'capture':
    case 'settle':
    case 'release':
    case 'forfeit':
    case 'rollover':
    case 'reading':
      return false
    default:
      return kind satisfies never
  }
}

/** What an entry moves into or out of one pot. */
export const moved = (
  { moves }: Pick<LedgerEntry, 'moves'>,
  side: 'from' | 'to',
  pot: Pot,
): bigint => moves.reduce((sum, move) => (move[side] === pot ? sum + move.amount : sum), 0n)

/** Of one grant. A settlement names a grant twice where it spends some of a pin and gives back the rest. */
export const amountOf = (draws: readonly Draw[] | undefined, grant: string): bigint =>
  (draws ?? []).reduce((sum, draw) => (draw.grant === grant ? sum + draw.amount : sum), 0n)
