/** The metrics of a relay's own limiter, under the names that its dashboards know. Only refusals are counted by this process. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type {
  Allowance,
  SpendingEvent,
  SpendingOverview,
  SpendingSettings,
  TierUsage,
} from '../../spending/index.ts'

interface RelayCounts {
  observe(event: SpendingEvent): void
  /** Refusals for the total, by the mode and the operation that were asked. */
  refusals(): Iterable<readonly [mode: string, operation: string, count: number]>
}

/** Callers name operations: more names than this count as one, or they could fill the memory. */
const MAX_OPERATIONS = 100

export const relayCounts = (): RelayCounts => {
  const refusals = new Map<string, number>()
  return {
    observe: (event) => {
      if (event.kind !== 'admission' || event.answer.reason !== 'TOTAL_BUDGET') return
      const { mode = 'TRANSACTION', operation = '' } = event.ask
      const own = `${mode}\n${operation}`
      const key = refusals.has(own) || refusals.size < MAX_OPERATIONS ? own : `${mode}\nother`
      refusals.set(key, (refusals.get(key) ?? 0) + 1)
    },
    *refusals() {
      for (const [key, count] of refusals) {
        const [mode = '', operation = ''] = key.split('\n')
        yield [mode, operation, count]
      }
    },
  }
}

interface RelayWatched {
  /** One reading of the store, shared by all gauges of a scrape; undefined if it does not answer. */
  readonly overview: () => Promise<SpendingOverview | undefined>
  readonly settings: () => SpendingSettings
}

export const registerRelayMetrics = (
  registry: Registry,
  watched: RelayWatched,
  counts: RelayCounts,
): void => {
  const registers = [registry]
  const refused = new Counter({
    name: 'rpc_relay_hbar_rate_limit',
    help: 'Refusals because the total is used up; methodName is the operation.',
    labelNames: ['mode', 'methodName'],
    registers,
    collect: () => {
      refused.reset()
      for (const [mode, methodName, count] of counts.refusals()) {
        refused.inc({ mode, methodName }, count)
      }
    },
  })
  registerTotals(registry, watched)
  for (const tier of ['BASIC', 'EXTENDED', 'PRIVILEGED'] as const) {
    const name = tier.toLowerCase()
    const plans = new Gauge({
      name: `unique_spending_plans_counter_${name}`,
      help: `${tier} plans that spent anything in this window.`,
      registers,
      collect: async () => {
        const found = await watched.overview()
        if (found !== undefined) plans.set(found.tiers[tier].plans)
      },
    })
    const average = new Gauge({
      name: `average_spending_plan_amount_spent_gauge_${name}`,
      help: `What ${tier} plans that spent anything in this window spent on average.`,
      registers,
      collect: async () => {
        const found = await watched.overview()
        if (found !== undefined) average.set(averageOf(found.tiers[tier]))
      },
    })
  }
}

function registerTotals(registry: Registry, { overview, settings }: RelayWatched): void {
  const registers = [registry]
  const remaining = new Gauge({
    name: 'rpc_relay_hbar_rate_remaining',
    help: 'What is left of the budget of the window.',
    registers,
    collect: async () => {
      const found = await overview()
      if (found !== undefined) remaining.set(toNumber(found.total.remaining))
    },
  })
  const total = new Gauge({
    name: 'rpc_relay_hbar_rate_total_limit',
    help: 'The budget of the window.',
    registers,
    collect: () => {
      total.set(toNumber(settings().total))
    },
  })
  const balance = new Gauge({
    name: 'rpc_relay_operator_balance',
    help: "The operator's balance as last read.",
    labelNames: ['accountId'],
    registers,
    collect: async () => {
      const found = await overview()
      balance.reset()
      if (found?.balance === undefined) return
      balance.set({ accountId: settings().payer }, Number(found.balance.amount))
    },
  })
}

/** Zero where there is nothing to average, which a graph shows better than nothing at all. */
const averageOf = ({ plans, spent }: TierUsage): number => (plans === 0 ? 0 : Number(spent) / plans)

export const toNumber = (allowance: Allowance): number =>
  allowance === 'unlimited' ? Number.POSITIVE_INFINITY : Number(allowance)
