import type { Store } from '../../src/core/store.ts'
import { days, seconds } from '../../src/core/time.ts'
import {
  buildPlanCatalog,
  type ConfiguredPlans,
  createSpending,
  parsePlans,
  type Spending,
  type SpendingEvent,
  type SpendingSettings,
} from '../../src/spending/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { pretendedCluster } from '../../src/testing/pretended-cluster.ts'
import { scratchFile } from './scratch-file.ts'

export const SETTINGS: SpendingSettings = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: days(1), align: 'epoch' },
  total: 1_000n,
  tiers: { BASIC: 300n, EXTENDED: 500n, PRIVILEGED: 800n },
  linkIp: false,
  categories: new Map(),
  holdFor: seconds(180),
  operator: { minBalance: 0n, maxAge: seconds(600), stale: 'ignore' },
}

export interface Desk {
  readonly spending: Spending
  readonly store: Store
  readonly clock: FakeClock
  readonly path: string
  readonly events: readonly SpendingEvent[]
  settings: SpendingSettings
  plans: ConfiguredPlans
}

export interface DeskOptions extends Partial<SpendingSettings> {
  /** Entries of `spendingPlansConfig.json`. */
  readonly plans?: readonly object[]
  readonly start?: string
}

export const plansOf = (...plans: readonly object[]): ConfiguredPlans =>
  buildPlanCatalog(parsePlans(JSON.stringify(plans), 'plans.json'))

/** Spending on a new SQLite file that pretends to be a cluster, at a clock that stands still. */
export const openDesk = ({ plans = [], start, ...settings }: DeskOptions = {}): Desk => {
  const clock = fakeClock(start ?? '2026-01-01T10:00:00Z')
  const path = scratchFile()
  const store = pretendedCluster(sqlite({ path, clock }))
  const events: SpendingEvent[] = []
  const spending = createSpending({
    store,
    settings: () => desk.settings,
    plans: () => desk.plans,
    observe: (event) => events.push(event),
  })
  const desk: Desk = {
    spending,
    store,
    clock,
    path,
    events,
    settings: { ...SETTINGS, ...settings },
    plans: plansOf(...plans),
  }
  return desk
}

/** The code that a call is refused with; anything else fails the test. */
export const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Error && 'code' in error) return String(error.code)
  throw new Error(`expected a coded error, found ${String(error)}`)
}

/** The ledger is compacted once the first page of it was read: whoever reads on is overtaken. */
export const compactAtFirstRead = (store: Store, spending: Spending): void => {
  const { read } = store
  let isCompacted = false
  Object.assign(store, {
    read: async (...asked: Parameters<typeof read>) => {
      const page = await read(...asked)
      if (isCompacted) return page
      isCompacted = true
      await spending.compact()
      return page
    },
  })
}
