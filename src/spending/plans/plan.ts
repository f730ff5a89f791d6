/** Plans: who may spend how much, and the settings that all of one payer's plans share. */
import type { Instant, Span } from '../../core/time.ts'

export type Tier = 'BASIC' | 'EXTENDED' | 'PRIVILEGED'

export const TIERS: readonly Tier[] = ['BASIC', 'EXTENDED', 'PRIVILEGED']

/** In the smallest unit. Zero blocks; `unlimited` is a word, not a large number. */
export type Allowance = bigint | 'unlimited'

/** Room for a UUID or a name, in a file and over HTTP alike: it is part of keys, and a word in logs. */
export const MAX_PLAN_ID_LENGTH = 128

export interface Plan {
  readonly id: string
  readonly tier: Tier
  /** For people only. */
  readonly name?: string
  /** Instead of the tier's. */
  readonly limit?: Allowance
  readonly active: boolean
  readonly createdAt?: Instant
  /** From then on it pays for nobody, and its id is not given again. */
  readonly retiredAt?: Instant
  readonly categories?: ReadonlyMap<string, Allowance>
  readonly source: 'file' | 'store' | 'implicit'
}

export interface PlanCatalog {
  readonly plans: ReadonlyMap<string, Plan>
  /** By canonical address (lower case) or other name. */
  byAddress(address: string): Plan | undefined
  /** By canonical address; of several ranges the narrowest. */
  byIp(ip: string): Plan | undefined
}

export interface SpendingSettings {
  readonly payer: string
  readonly unit: { readonly name: string; readonly decimals: number }
  readonly window: {
    readonly length: Span
    readonly align: 'epoch' | 'start' | { readonly midnight: string }
  }
  /** Zero: spending is off. */
  readonly total: Allowance
  readonly tiers: Readonly<Record<Tier, Allowance>>
  readonly ipCeiling?: Allowance
  readonly linkIp: boolean
  /** By operation, for all plans together. */
  readonly categories: ReadonlyMap<string, Allowance>
  /** By operation, for each plan that does not say otherwise. */
  readonly planCategories?: ReadonlyMap<string, Allowance>
  readonly holdFor: Span
  /** How long operation ids, and holds after their end, are remembered; a week by default. */
  readonly rememberFor?: Span
  readonly operator: {
    readonly minBalance: bigint
    readonly maxAge: Span
    readonly stale: 'ignore' | 'deny'
  }
  /** Unused allowance moves to the next window, up to this share of it. */
  readonly rollover?: { readonly sharePerMille: number }
  /** Ledger entries of windows that ended this long ago may be compacted into totals. */
  readonly compactAfter?: Span
}
