/** What Prometheus is told of subjects. All of it is 0 where they are off. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { UcanEvent } from '../subjects/index.ts'

export interface SubjectMetrics {
  /** Told of what the UCAN service does. */
  ucan(event: UcanEvent): void
  /** Told of every attempt to hear of changes that failed. */
  follow(): void
  /** Fills what is read only now. */
  show(subjects: { isHeard(): boolean } | undefined): void
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
    'Attempts to hear of changed rates that the store failed.',
  )
  const heard = new Gauge({
    name: 'headgate_subjects_heard',
    help: '1 while changes of rates are heard from the store, 0 where they are not or are off.',
    registers: [registry],
  })
  return {
    ucan: (event) => {
      switch (event.kind) {
        case 'signature-check':
          return checks.inc()
        case 'store-failure':
          return storeFailures.inc()
        default:
          return event satisfies never
      }
    },
    follow: () => followFailures.inc(),
    show: (subjects) => heard.set(subjects?.isHeard() === true ? 1 : 0),
  }
}
