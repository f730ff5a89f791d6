/** What is counted of subjects: signatures that were checked, and a store that failed. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { UcanEvent } from '../../subjects/index.ts'

/** All of them are 0 where subjects are off. */
export interface SubjectMetrics {
  /** Counts what the UCAN service does. */
  ucan(event: UcanEvent): void
  /** Counts a failed attempt to follow the changes. */
  follow(): void
  /** Sets the gauge, just before it is read. */
  show(subjects: { isFresh(): boolean } | undefined): void
}

export const registerSubjectMetrics = (registry: Registry): SubjectMetrics => {
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] })
  const checks = counter(
    'headgate_ucan_signature_checks_total',
    'Signatures of delegations and invocations that were checked.',
  )
  const storeFailures = counter(
    'headgate_ucan_store_failures_total',
    'Invocations that the store failed; none of them was done.',
  )
  const followFailures = counter(
    'headgate_subjects_follow_failures_total',
    'Attempts to follow changed rates that the store failed.',
  )
  const fresh = new Gauge({
    name: 'headgate_subjects_heard',
    help: '1 while changes of rates are followed from the store, 0 where they are not or are off.',
    registers: [registry],
  })
  return {
    ucan: (event) => {
      switch (event.kind) {
        case 'message':
          return checks.inc(event.work.verified)
        case 'store-failure':
          return storeFailures.inc()
        default:
          return event satisfies never
      }
    },
    follow: () => followFailures.inc(),
    show: (subjects) => fresh.set(subjects?.isFresh() === true ? 1 : 0),
  }
}
