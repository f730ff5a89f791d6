/** What a verification can find wrong. The kinds are stable: alerts and scripts go by them. */
import type { Instant } from '../../core/time.ts'

/**
 * - `entry-missing`: numbers that no entry has; at the end of the ledger, a tail that was cut.
 * - `entry-repeated`: a number that an earlier entry has.
 * - `entry-unreadable`: a text that is no entry.
 * - `chain-broken`: an entry carries another hash than the one before it has: one of them was edited.
 * - `head-differs`: the calendar names another end than the ledger has.
 * - `checkpoint-differs`: what is kept of the last compaction is not what its entry says.
 * - `archive-broken`: entries that outlived a compaction are not those that it vouches for.
 * - `anchor-differs`: the entry of that number has another hash: the chain was made anew.
 * - `anchor-missing`: no entry has that hash or number: the ledger was cut before it.
 * - `…-drift`: a kept value is not what the entries come to, is not there, or no entry speaks of it.
 */
export type FindingKind =
  | 'entry-missing'
  | 'entry-repeated'
  | 'entry-unreadable'
  | 'chain-broken'
  | 'head-differs'
  | 'checkpoint-differs'
  | 'archive-broken'
  | 'anchor-differs'
  | 'anchor-missing'
  | 'balance-drift'
  | 'grant-drift'
  | 'hold-drift'
  | 'plan-drift'
  | 'rollover-drift'
  | 'reading-drift'
  | 'booking-drift'
  | 'trail-drift'
  | 'link-drift'
  | 'calendar-drift'

export interface Finding {
  readonly kind: FindingKind
  /** Which entry, budget, grant, hold or plan. */
  readonly what: string
  /** Where it is of one. */
  readonly window?: Instant | undefined
  /** What the entries say. */
  readonly ledger: string
  /** What is there. */
  readonly kept: string
}

/** Where a ledger ends. Kept outside the store, it is an anchor. */
export interface LedgerHead {
  readonly payer: string
  /** Of the last entry; 0 where there is none. */
  readonly number: number
  /** Of the last entry's text; '' where there is none. */
  readonly hash: string
}

/** How an anchor fared: it is in the chain, was compacted away, or is not there. */
export type AnchorState = 'holds' | 'compacted' | 'broken'

export interface Verification {
  /** Ledger entries that were read. */
  readonly entries: number
  /** Kept values that were compared. */
  readonly accounts: number
  readonly findings: readonly Finding[]
  /** Where the ledger ends: keep it, and nothing before it can be changed unseen. */
  readonly head: LedgerHead
  /** Entries up to this one were compacted; 0: none. */
  readonly compactedThrough: number
  /** Only where one was given. */
  readonly anchor?: AnchorState | undefined
}

/**
 * - `edited`: the line was changed after its entry was hashed.
 * - `cut`: entries are missing, and nothing vouches for them.
 * - `re-chained`: the anchor's entry has another hash: it, or one before it, was changed and hashed anew.
 */
export type ExportFindingKind = 'edited' | 'cut' | 're-chained'

export interface ExportFinding {
  readonly kind: ExportFindingKind
  /** From 1. */
  readonly line: number
  readonly what: string
}

export interface ExportVerification {
  readonly entries: number
  readonly findings: readonly ExportFinding[]
  /** Entries up to this one are gone, as a checkpoint says; 0: none. */
  readonly compactedThrough: number
  /** Where the export ends. */
  readonly head: { readonly number: number; readonly hash: string }
  readonly anchor?: AnchorState | undefined
}
