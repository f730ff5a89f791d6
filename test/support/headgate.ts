/** A whole Headgate in memory, with a clock that stands still until a test moves it. */
import type { Store } from '../../src/core/store.ts'
import type { Clock } from '../../src/core/time.ts'
import type { Catalog } from '../../src/requests/catalog/catalog.ts'
import { createLimiter } from '../../src/requests/limiter/verbs.ts'
import type { CatalogStatus, Headgate } from '../../src/server/app/headgate.ts'
import { createHttpServer } from '../../src/server/app/http-server.ts'
import { createMetrics, type Metrics } from '../../src/server/app/metrics.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../src/server/config/settings.ts'
import type { Subjects } from '../../src/server/subjects/open.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { acmeCatalog } from './acme-catalog.ts'

/** Five at once, then one every twelve seconds. */
const LIMITS = `
PerAddress: { id: ipAddress, burst: 5, count: 5, period: 1m }
PerKey: { id: opaque, burst: 3, count: 1, period: 10s }
OpenWhenDown: { id: opaque, burst: 3, count: 1, period: 10s, onStoreFailure: open }
OnlyOverrides: { id: opaque }
`
const DEFAULTS = 'NewOrdersPerAccount: { burst: 300, count: 300, period: 180m }'
const OVERRIDES = `
- NewOrdersPerAccount: { burst: 2, count: 2, period: 1h, ids: [ { id: 77, comment: on probation } ] }
`

export interface TestHeadgate extends Headgate {
  readonly clock: FakeClock
  /** Mutable, as reloading makes it. */
  catalogStatus: CatalogStatus
  tokenList: Settings['tokens']
}

export interface TestOptions {
  readonly settings?: Partial<Settings>
  readonly wrap?: (store: Store) => Store
  readonly catalog?: Catalog
  /** Off unless given; see `testSubjects`. */
  readonly subjects?: (store: Store, clock: Clock, metrics: Metrics) => Subjects
}

export const testHeadgate = (options: TestOptions = {}): TestHeadgate => {
  const clock = fakeClock()
  const plain = memory({ clock })
  const store = options.wrap?.(plain) ?? plain
  const metrics = createMetrics()
  const catalog =
    options.catalog ?? acmeCatalog({ limits: LIMITS, defaults: DEFAULTS, overrides: OVERRIDES })
  const settings: Settings = { ...DEFAULT_SETTINGS, logLevel: 'silent', ...options.settings }
  const subjects = options.subjects?.(store, clock, metrics)
  const limiter = createLimiter({
    store,
    catalog: () => catalog,
    observe: metrics.observe,
    ...(subjects && { guard: subjects.gate }),
  })
  const headgate: TestHeadgate = {
    settings,
    store,
    limiter,
    metrics,
    ...(subjects && { subjects }),
    clock,
    tokenList: settings.tokens,
    storeWatch: { downSince: () => undefined },
    tokens: () => headgate.tokenList,
    catalogStatus: { loadedAt: 1_704_067_200_000, problem: undefined },
    catalog: {
      current: () => catalog,
      status: () => headgate.catalogStatus,
      reload: async () => undefined,
      close: () => undefined,
    },
    close: () => {
      subjects?.close()
      return store.close()
    },
  }
  return headgate
}

/** The HTTP server of one, and a way to ask it as a client on this machine would. */
export const testServer = (options: TestOptions = {}) => {
  const headgate = testHeadgate(options)
  const app = createHttpServer(headgate, { now: headgate.clock })
  return { headgate, app, clock: headgate.clock }
}
