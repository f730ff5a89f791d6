/** The metrics of a relay's own limiter, under the names that its dashboards know. Counted by this process. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type {
  Allowance,
  SpendingCharge,
  SpendingEvent,
  SpendingOverview,
  SpendingSettings,
  Tier,
} from '../../spending/index.ts'

interface RelayCounts {
  observe(event: SpendingEvent): void
  /** Of the newest window. */
  of(tier: Tier): TierCounts
  /** Refusals for the total, by the mode and the operation that were asked. */
  refusals(): Iterable<readonly [mode: string, operation: string, count: number]>
}

interface TierCounts {
  /** Plans that began to spend in this window. */
  readonly plans: number
  readonly charged: bigint
}

/** Callers name operations: more names than this count as one, or they could fill the memory. */
const MAX_OPERATIONS = 100

const NOTHING: TierCounts = { plans: 0, charged: 0n }

export const relayCounts = (): RelayCounts => {
  const refusals = new Map<string, number>()
  let tiers = new Map<Tier, TierCounts>()
  let window = 0

  const count = ({ plan, charged, replayed, window: booked }: SpendingCharge): void => {
    if (plan === null || booked === null || replayed === true || charged === 0n) return
    if (booked.startsAt > window) {
      window = booked.startsAt
      tiers = new Map()
    }
    if (booked.startsAt < window) return
    const before = tiers.get(plan.tier) ?? NOTHING
    const first = plan.spent === charged ? 1 : 0
    tiers.set(plan.tier, { plans: before.plans + first, charged: before.charged + charged })
  }

  return {
    observe: (event) => {
      if (event.kind === 'charge') count(event.answer)
      if (event.kind !== 'admission' || event.answer.reason !== 'TOTAL_BUDGET') return
      const { mode = 'TRANSACTION', operation = '' } = event.ask
      const own = `${mode}\n${operation}`
      const key = refusals.has(own) || refusals.size < MAX_OPERATIONS ? own : `${mode}\nother`
      refusals.set(key, (refusals.get(key) ?? 0) + 1)
    },
    of: (tier) => tiers.get(tier) ?? NOTHING,
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
      collect: () => {
        plans.set(counts.of(tier).plans)
      },
    })
    const average = new Gauge({
      name: `average_spending_plan_amount_spent_gauge_${name}`,
      help: `What ${tier} plans that spent anything in this window spent on average.`,
      registers,
      collect: () => {
        average.set(averageOf(counts.of(tier)))
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
const averageOf = ({ plans, charged }: TierCounts): number =>
  plans === 0 ? 0 : Number(charged) / plans

export const toNumber = (allowance: Allowance): number =>
  allowance === 'unlimited' ? Number.POSITIVE_INFINITY : Number(allowance)
