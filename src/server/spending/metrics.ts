/**
 * The metrics of spending. Amounts are in the smallest unit. Counters count events; gauges are read
 * from the store when Prometheus asks.
 */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ClockVerdict } from '../../core/machine-clock.ts'
import type { Instant } from '../../core/time.ts'
import type {
  CaptureQueue,
  ConfiguredPlans,
  Spending,
  SpendingCharge,
  SpendingEvent,
  SpendingOverview,
  SpendingSettings,
  Tier,
  Verification,
} from '../../spending/index.ts'
import { createTally, type Tally } from '../app/metrics.ts'
import { registerRelayMetrics, relayCounts, toNumber } from './relay-metrics.ts'

interface SpendingMetrics {
  /** Every answer of spending, and every failure of the store. */
  observe(event: SpendingEvent): void
  /** Called after every look at the clock. */
  clock(verdict: ClockVerdict): void
  /** What the newest verification found. */
  verified(found: Verification, at: Instant): void
  /** Once, when everything that is watched is there. Events before that count too. */
  register(registry: Registry, watched: Watched): void
}

/** Where the gauges are read from. */
interface Watched {
  readonly spending: Pick<Spending, 'overview'>
  readonly settings: () => SpendingSettings
  readonly plans: () => ConfiguredPlans
  readonly queue: Pick<CaptureQueue, 'status'> | undefined
}

export const createSpendingMetrics = (): SpendingMetrics => {
  const relay = relayCounts()
  const early: SpendingEvent[] = []
  let counts: Counts | undefined
  const drift = { found: 0, at: 0 }
  let clock: ClockVerdict | undefined
  return {
    observe: (event) => {
      relay.observe(event)
      if (counts === undefined) early.push(event)
      else count(counts, event)
    },
    clock: (verdict) => {
      clock = verdict
    },
    verified: ({ findings }, at) => {
      drift.found = findings.length
      drift.at = at / 1_000_000
    },
    register: (registry, watched) => {
      counts = createCounts(registry)
      for (const event of early.splice(0)) count(counts, event)
      const overview = sharedOverview(watched)
      registerGauges(registry, { ...watched, overview }, drift)
      registerClock(registry, watched, () => clock)
      registerRefused(registry, watched)
      registerPlans(registry, watched)
      // Under their old names, so that the dashboards of a relay keep working.
      registerRelayMetrics(registry, { settings: watched.settings, overview }, relay)
    },
  }
}

type Counts = ReturnType<typeof createCounts>

function createCounts(registry: Registry) {
  const tally = (name: string, help: string, labels: readonly string[]): Tally =>
    createTally({ name, help, labels, registry })
  return {
    admissions: tally(
      'headgate_spending_admissions_total',
      'Questions that were allowed, by verb and tier.',
      ['verb', 'tier'],
    ),
    refusals: tally(
      'headgate_spending_refusals_total',
      'Questions that were refused, by verb, reason and tier.',
      ['verb', 'reason', 'tier'],
    ),
    bookings: tally(
      'headgate_spending_bookings_total',
      'Captures, settlements, releases and records, by verb, tier and outcome: booked, late or replayed.',
      ['verb', 'tier', 'outcome'],
    ),
    charged: new Counter({
      name: 'headgate_spending_charged_total',
      help: 'Money that was booked as spent, by tier.',
      labelNames: ['tier'],
      registers: [registry],
    }),
    overage: new Counter({
      name: 'headgate_spending_overage_total',
      help: 'Money that was spent beyond what was held for it, or recorded beyond what its plan had left.',
      registers: [registry],
    }),
    storeFailures: new Counter({
      name: 'headgate_spending_store_failures_total',
      help: 'Questions that were refused because the store did not answer.',
      registers: [registry],
    }),
  }
}

/** A question that names no caller has no tier. */
const NO_TIER = 'none'

function count(counts: Counts, event: SpendingEvent): void {
  switch (event.kind) {
    case 'admission': {
      const { verb, answer } = event
      const tier = answer.plan?.tier ?? NO_TIER
      if (answer.reason === null) counts.admissions.add(verb, tier)
      else counts.refusals.add(verb, answer.reason, tier)
      return
    }
    case 'charge': {
      const { verb, answer } = event
      const tier = answer.plan?.tier ?? NO_TIER
      counts.bookings.add(verb, tier, outcomeOf(answer))
      if (answer.replayed === true) return
      counts.charged.inc({ tier }, Number(answer.charged))
      counts.overage.inc(Number(answer.overage))
      return
    }
    case 'store-failure':
      counts.storeFailures.inc()
      return
    default:
      event satisfies never
  }
}

function outcomeOf({ replayed, late }: SpendingCharge): string {
  if (replayed === true) return 'replayed'
  return late ? 'late' : 'booked'
}

/** What the newest verification found; `at` is 0 before the first. */
interface DriftFound {
  readonly found: number
  readonly at: number
}

function registerGauges(
  registry: Registry,
  {
    settings,
    queue,
    overview,
  }: Watched & { readonly overview: () => Promise<SpendingOverview | undefined> },
  drift: DriftFound,
): void {
  const payer = () => settings().payer
  const gauge = (name: string, help: string, read: Read) =>
    readGauge(registry, { name: `headgate_spending_${name}`, help, payer }, read)
  const ofOverview = (
    name: string,
    help: string,
    read: (overview: SpendingOverview) => number | undefined,
  ) =>
    gauge(name, help, async () => {
      const found = await overview()
      return found && read(found)
    })
  ofOverview('total_limit', 'The budget of the window.', ({ total }) => toNumber(total.limit))
  ofOverview('remaining', 'What is left of the budget of the window.', ({ total }) =>
    toNumber(total.remaining),
  )
  ofOverview('held', 'What open holds keep aside, of every window.', ({ held }) => Number(held))
  ofOverview(
    'oldest_hold_seconds',
    'Age of the oldest open hold; where many are open, their ages are rounded up.',
    ({ now, firstExpiry }) =>
      firstExpiry === undefined
        ? 0
        : toSeconds(Math.max(0, settings().holdFor - (firstExpiry - now))),
  )
  ofOverview('balance', "The operator's balance as last read.", ({ balance }) =>
    balance === undefined ? undefined : Number(balance.amount),
  )
  ofOverview('balance_age_seconds', 'Age of that reading.', ({ balance, now }) =>
    balance === undefined ? undefined : toSeconds(now - balance.at),
  )
  gauge('queue_pending', 'Fees that wait on local disk to be booked.', async () =>
    queue === undefined ? undefined : queue.status().pending,
  )
  gauge('queue_age_seconds', 'Age of the oldest fee that waits.', async () => {
    const [oldest, found] = [queue?.status().oldest, await overview()]
    if (queue === undefined || found === undefined) return undefined
    return oldest === undefined ? 0 : toSeconds(Math.max(0, found.now - oldest))
  })
  gauge(
    'drift',
    'Accounts and ledger entries that the newest verification found wrong.',
    async () => (drift.at === 0 ? undefined : drift.found),
  )
  gauge('verified_timestamp_seconds', 'When the books were last verified here.', async () =>
    drift.at === 0 ? undefined : drift.at,
  )
}

function registerClock(
  registry: Registry,
  { settings }: Watched,
  verdict: () => ClockVerdict | undefined,
): void {
  const payer = () => settings().payer
  const trusted = {
    name: 'headgate_spending_clock_trusted',
    help: '1 while the clock is trusted. At 0 nothing is spent.',
  }
  readGauge(registry, { ...trusted, payer }, async () => {
    const found = verdict()
    return found && (found.trusted ? 1 : 0)
  })
  const offset = {
    name: 'headgate_spending_clock_offset_seconds',
    help: 'How far the clock is ahead of what was recorded; negative: behind.',
  }
  readGauge(registry, { ...offset, payer }, async () => {
    const found = verdict()
    return found && 'offBy' in found ? toSeconds(found.offBy) : undefined
  })
}

/** Undefined: nothing is known, and nothing is shown. */
type Read = () => Promise<number | undefined>

interface GaugeFace {
  readonly name: string
  readonly help: string
  readonly payer: () => string
}

/** A payer for a label, so that a gauge of which nothing is known can be left out. */
const LABELS = ['payer'] as const

function readGauge(registry: Registry, { name, help, payer }: GaugeFace, read: Read): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: LABELS,
    registers: [registry],
    collect: async () => {
      const value = await read()
      gauge.reset()
      if (value !== undefined) gauge.set({ payer: payer() }, value)
    },
  })
}

/** The gauges of one scrape share a reading. A store that does not answer shows nothing, and fails no scrape. */
function sharedOverview({ spending }: Pick<Watched, 'spending'>) {
  let pending: Promise<SpendingOverview | undefined> | undefined
  return (): Promise<SpendingOverview | undefined> => {
    pending ??= spending
      .overview()
      .catch(() => undefined)
      .finally(() => {
        pending = undefined
      })
    return pending
  }
}

const toSeconds = (micros: number): number => micros / 1_000_000

/** The queue keeps the count; a scrape copies it. */
function registerRefused(registry: Registry, { queue, settings }: Watched): void {
  const counter = new Counter({
    name: 'headgate_spending_queue_refused_total',
    help: 'Queued fees that could not be booked and were put aside.',
    labelNames: LABELS,
    registers: [registry],
    collect: () => {
      counter.reset()
      if (queue !== undefined) counter.inc({ payer: settings().payer }, queue.status().refused)
    },
  })
}

function registerPlans(registry: Registry, { plans }: Watched): void {
  const gauge = new Gauge({
    name: 'headgate_spending_plans',
    help: 'Plans that are configured, by tier.',
    labelNames: ['tier'],
    registers: [registry],
    collect: () => {
      const counts: Record<Tier, number> = { BASIC: 0, EXTENDED: 0, PRIVILEGED: 0 }
      for (const { tier } of plans().plans.values()) counts[tier] += 1
      for (const [tier, found] of Object.entries(counts)) gauge.set({ tier }, found)
    },
  })
}
