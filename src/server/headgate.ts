/** Headgate put together: a store, a catalog that follows its files, and the limiter over both. */
import type { Store } from '../core/index.ts'
import type { Catalog, Limiter } from '../requests/index.ts'
import type { Metrics } from './metrics.ts'
import type { Settings, TokenRecord } from './settings.ts'
import type { SpendingDesk } from './spending/spending-desk.ts'
import type { Subjects } from './subjects/subjects.ts'

export interface CatalogStatus {
  /** When the catalog in force was loaded, in milliseconds since the epoch. */
  readonly loadedAt: number
  /** Why the newest files are not in force; undefined when they are. */
  readonly problem: string | undefined
}

export interface CatalogSource {
  current(): Catalog
  status(): CatalogStatus
  /** Loads the files again. A mistake in one leaves the last good catalog in force and is thrown. */
  reload(): Promise<void>
  close(): void
}

export interface Headgate {
  /** As they were when it opened. Only limits, overrides and tokens change without a restart. */
  readonly settings: Settings
  readonly store: Store
  readonly catalog: CatalogSource
  readonly limiter: Limiter
  readonly metrics: Metrics
  /** Absent where nobody speaks of spending. */
  readonly spending?: SpendingDesk
  /** Absent where they are off. */
  readonly subjects?: Subjects
  /** Those in force now. To be asked at every request, so that a revoked token is revoked at once. */
  tokens(): readonly TokenRecord[]
  close(): Promise<void>
}
