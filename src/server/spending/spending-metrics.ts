/**
 * What Prometheus is told of spending. Amounts are in the smallest unit. Metrics of a relay's own
 * limiter are kept up under their old names, so that its dashboards go on.
 */
import { Counter, type Registry } from 'prom-client'
import type { Instant } from '../../core/index.ts'
import type { BookingAnswer, SpendingEvent, Verification } from '../../spending/index.ts'
import { createTally, type Tally } from '../tally.ts'
import { registerRelayMetrics, relayCounts } from './relay-metrics.ts'
import { registerSpendingGauges, type Watched } from './spending-gauges.ts'

export interface SpendingMetrics {
  /** Told of every answer and every failure of the store. */
  observe(event: SpendingEvent): void
  /** Told what the newest verification found. */
  verified(found: Verification, at: Instant): void
  /** Once, when everything that is watched is there. Events before that count too. */
  register(registry: Registry, watched: Watched): void
}

export const createSpendingMetrics = (): SpendingMetrics => {
  const relay = relayCounts()
  const early: SpendingEvent[] = []
  let counts: Counts | undefined
  const drift = { found: 0, at: 0 }
  return {
    observe: (event) => {
      relay.observe(event)
      if (counts === undefined) early.push(event)
      else count(counts, event)
    },
    verified: ({ drifts, missing }, at) => {
      drift.found = drifts.length + missing.length
      drift.at = at / 1_000_000
    },
    register: (registry, watched) => {
      counts = createCounts(registry)
      for (const event of early.splice(0)) count(counts, event)
      registerSpendingGauges(registry, watched, drift)
      registerRelayMetrics(registry, watched, relay)
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
      'Captures, settlements, releases and records, by verb, tier and outcome: booked, late or duplicate.',
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
      help: 'Money that was spent beyond what was held for it.',
      registers: [registry],
    }),
    storeFailures: new Counter({
      name: 'headgate_spending_store_failures_total',
      help: 'Questions that were refused because the store did not answer.',
      registers: [registry],
    }),
  }
}

/** Where nobody is named there is no tier. */
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
    case 'booking': {
      const { verb, answer } = event
      const tier = answer.plan?.tier ?? NO_TIER
      counts.bookings.add(verb, tier, outcomeOf(answer))
      if (answer.duplicate === true) return
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

function outcomeOf({ duplicate, late }: BookingAnswer): string {
  if (duplicate === true) return 'duplicate'
  return late ? 'late' : 'booked'
}
