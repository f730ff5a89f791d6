/** How spending stands when Prometheus looks: one reading of the store for all gauges of a look. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type {
  Allowance,
  CaptureQueue,
  ConfiguredPlans,
  Pulse,
  Spending,
  SpendingSettings,
  Tier,
} from '../../spending/index.ts'

/** Whom the gauges ask. */
export interface Watched {
  readonly spending: Pick<Spending, 'pulse'>
  readonly settings: () => SpendingSettings
  readonly plans: () => ConfiguredPlans
  readonly queue: Pick<CaptureQueue, 'status'> | undefined
}

/** What the newest verification found; `at` is 0 before the first. */
export interface DriftFound {
  readonly found: number
  readonly at: number
}

export const registerSpendingGauges = (
  registry: Registry,
  watched: Watched,
  drift: DriftFound,
): void => {
  const pulse = sharedPulse(watched)
  const { settings, queue } = watched
  const payer = () => settings().payer
  const gauge = (name: string, help: string, read: Read) =>
    readGauge(registry, { name: `headgate_spending_${name}`, help, payer }, read)
  const ofPulse = (name: string, help: string, read: (pulse: Pulse) => number | undefined) =>
    gauge(name, help, async () => {
      const found = await pulse()
      return found && read(found)
    })
  ofPulse('total_limit', 'The budget of the window.', ({ total }) => toNumber(total.limit))
  ofPulse('remaining', 'What is left of the budget of the window.', ({ total }) =>
    toNumber(total.remaining),
  )
  ofPulse('held', 'What open holds keep aside, of every window.', ({ held }) => Number(held))
  ofPulse(
    'oldest_hold_seconds',
    'Age of the oldest open hold; where many are open, their ages are rounded up.',
    ({ now, firstExpiry }) =>
      firstExpiry === undefined
        ? 0
        : toSeconds(Math.max(0, settings().holdFor - (firstExpiry - now))),
  )
  ofPulse('balance', "The operator's balance as last read.", ({ balance }) =>
    balance === undefined ? undefined : Number(balance.amount),
  )
  ofPulse('balance_age_seconds', 'Age of that reading.', ({ balance, now }) =>
    balance === undefined ? undefined : toSeconds(now - balance.at),
  )
  gauge('queue_pending', 'Fees that wait on local disk to be booked.', async () =>
    queue === undefined ? undefined : queue.status().pending,
  )
  gauge('queue_age_seconds', 'Age of the oldest fee that waits.', async () => {
    const [oldest, found] = [queue?.status().oldest, await pulse()]
    if (queue === undefined || found === undefined) return undefined
    return oldest === undefined ? 0 : toSeconds(Math.max(0, found.now - oldest))
  })
  gauge(
    'drift',
    'Balances and ledger entries that the newest verification found wrong.',
    async () => (drift.at === 0 ? undefined : drift.found),
  )
  gauge('verified_timestamp_seconds', 'When the books were last verified here.', async () =>
    drift.at === 0 ? undefined : drift.at,
  )
  registerRefused(registry, watched)
  registerPlans(registry, watched)
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

/** The gauges of one look share a reading. A store that does not answer shows nothing, and fails no look. */
export function sharedPulse({ spending }: Pick<Watched, 'spending'>) {
  let pending: Promise<Pulse | undefined> | undefined
  return (): Promise<Pulse | undefined> => {
    pending ??= spending
      .pulse()
      .catch(() => undefined)
      .finally(() => {
        pending = undefined
      })
    return pending
  }
}

export const toNumber = (allowance: Allowance): number =>
  allowance === 'unlimited' ? Number.POSITIVE_INFINITY : Number(allowance)

const toSeconds = (micros: number): number => micros / 1_000_000

/** The queue counts by itself; a look takes over what it has. */
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
