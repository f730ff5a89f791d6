/** What servers and signers measure alike of a store on another machine. All of it stays 0 for a store of this one. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { StoreEvent, TripOutcome } from '../../stores/remote/line.ts'
import type { GroupSent } from '../../stores/remote/optimist.ts'

export interface StoreMetrics {
  /** Every round trip, and every change of the breaker. */
  event(event: StoreEvent): void
  /** What became of a round trip that was to commit. */
  group(group: Pick<GroupSent, 'conflicts' | 'claims'>): void
}

export const registerStoreMetrics = (registry: Registry): StoreMetrics => {
  const registers = [registry]
  const counter = (name: string, help: string) => new Counter({ name, help, registers })
  const breaker = new Gauge({
    name: 'headgate_store_breaker_open',
    help: '1 while the store does not answer and calls to it fail at once, else 0.',
    registers,
  })
  const opened = counter(
    'headgate_store_breaker_opened_total',
    'How often the store stopped answering.',
  )
  const refused = counter(
    'headgate_store_breaker_refused_total',
    'Round trips that were not tried because the breaker was open; calls of one moment share one.',
  )
  const listening = new Gauge({
    name: 'headgate_store_listening',
    help: '1 while the store tells this server at once of changed rates; 0 where it only polls.',
    registers,
  })
  const trips: Record<TripOutcome, number> = { answered: 0, refused: 0, cut: 0, timeout: 0 }
  const tripCounter: Counter = new Counter({
    name: 'headgate_store_round_trips_total',
    help: 'Round trips to the store, by outcome: answered, refused, cut or timeout.',
    labelNames: ['outcome'],
    registers,
    collect: () => {
      tripCounter.reset()
      for (const [outcome, count] of Object.entries(trips)) tripCounter.labels(outcome).inc(count)
    },
  })
  const retries = counter(
    'headgate_store_retries_total',
    'Statements sent again because the server had rolled them back.',
  )
  const conflicts = counter(
    'headgate_store_conflicts_total',
    'Calls that ran again because another server had changed what they read.',
  )
  const claims = counter(
    'headgate_store_claims_total',
    'Commits that lost so often that their keys were kept for them for a moment.',
  )
  return {
    event: (event) => {
      switch (event.kind) {
        case 'trip':
          trips[event.outcome] += 1
          return
        case 'spared':
          return refused.inc()
        case 'retry':
          return retries.inc()
        case 'down':
          opened.inc()
          return breaker.set(1)
        case 'listening':
          return listening.set(event.on ? 1 : 0)
        case 'up':
          return breaker.set(0)
        default:
          return event satisfies never
      }
    },
    group: (group) => {
      conflicts.inc(group.conflicts)
      claims.inc(group.claims)
    },
  }
}
