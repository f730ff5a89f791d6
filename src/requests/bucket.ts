/** What the catalog answers: a limit's definition, and the bucket that one id has under it. */
import type { Position } from '../core/errors.ts'
import type { GcraLimit } from '../core/gcra.ts'
import type { IdFormat } from './id-formats.ts'

/** `open` admits while the store is down, `closed` refuses. */
export type OnStoreFailure = 'open' | 'closed'

export interface LimitDefinition {
  readonly name: string
  /** Of built-in limits: what their bucket keys begin with. */
  readonly number?: number
  readonly idFormat: IdFormat
  readonly onStoreFailure: OnStoreFailure
  /** Where the count comes from, if not from the rate alone. */
  readonly rateFrom?: 'subject'
  /** Absent: only ids with an override are limited. */
  readonly default?: GcraLimit
  readonly overrideCount: number
}

export interface Override {
  /** Canonical, and so what a bucket looks for. */
  readonly id: string
  /** As the document has it: the names of a set cannot be told from their hash. */
  readonly written: string
  /** `3:12345678`. For limits per account and identifier, the account's: `4:1337`. */
  readonly key: string
  readonly limit: GcraLimit
  /** Empty if there is none. */
  readonly comment: string
  readonly at: Position
}

export interface Bucket {
  readonly definition: LimitDefinition
  /** Canonical: two spellings of one address have one bucket. */
  readonly id: string
  /** `3:12345678`, or `NewFoosPerIPAddress:10.0.0.1` for a declared limit. */
  readonly key: string
  /** Absent: neither a default nor an override, so nothing is limited. */
  readonly limit?: GcraLimit
  readonly source: 'default' | 'override' | 'disabled'
  readonly override?: Pick<Override, 'id' | 'comment'>
}
