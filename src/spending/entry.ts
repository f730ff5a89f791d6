/**
 * Ledger entries: what happened, never changed afterwards. Double entry: each move takes from one
 * pot what it puts into another, on every account of the party alike.
 */
import type { Instant } from '../core/time.ts'
import type { Note } from './ask.ts'
import { readMoney, writeMoney } from './money-json.ts'
import type { Party } from './party.ts'

export type EntryKind = 'grant' | 'hold' | 'capture' | 'release' | 'adjust' | 'totals'

/** Money that may be spent, is kept aside, is gone; and what was given beyond the allowance. */
export type Pot = 'available' | 'held' | 'spent' | 'issued' | 'granted'

export interface Move {
  readonly from: Pot
  readonly to: Pot
  readonly amount: bigint
}

/** What a charge took out of one grant. */
export interface Draw {
  readonly grant: string
  readonly amount: bigint
}

/**
 * - `late`: booked after the hold had expired.
 * - `overage`: more than was held.
 * - `expired`: the release only says what time had done already.
 */
export type Flag = 'late' | 'overage' | 'expired'

/** The sum of one account over a window whose entries were compacted. */
export interface NodeTotal {
  readonly node: string
  readonly spent: bigint
}

export interface EntryDraft {
  readonly kind: EntryKind
  readonly window: Instant
  readonly moves: readonly Move[]
  readonly party?: Party | undefined
  readonly hold?: string | undefined
  /** When that hold ends by itself. */
  readonly expiresAt?: Instant | undefined
  readonly operationId?: string | undefined
  readonly note?: Note | undefined
  readonly flags?: readonly Flag[] | undefined
  readonly grant?: string | undefined
  readonly draws?: readonly Draw[] | undefined
  readonly totals?: readonly NodeTotal[] | undefined
  /** For people: what an adjustment did. */
  readonly detail?: string | undefined
}

export interface LedgerEntry extends EntryDraft {
  /** From 1, without gaps: a missing number is a missing entry. */
  readonly seq: number
  readonly at: Instant
}

export const move = (from: Pot, to: Pot, amount: bigint): readonly Move[] =>
  amount === 0n ? [] : [{ from, to, amount }]

export const encodeEntry = (entry: LedgerEntry): string => writeMoney(entry)

export const decodeEntry = (text: string): LedgerEntry => readMoney<LedgerEntry>(text)
