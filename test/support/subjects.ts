import type { Store } from '../../src/core/store.ts'
import { type Clock, seconds } from '../../src/core/time.ts'
import { systemTimers, type Timers } from '../../src/lib/poller.ts'
import type { Metrics } from '../../src/server/app/metrics.ts'
import type { Subjects } from '../../src/server/subjects/open.ts'
import {
  createRates,
  createSubjectGate,
  createUcanService,
  didDocument,
  generateIdentity,
  type Identity,
} from '../../src/subjects/index.ts'

/** Subjects over the store and the clock of a test. */
export const testSubjects =
  (identity: Identity = generateIdentity()) =>
  (store: Store, clock: Clock, metrics: Metrics): Subjects => {
    const provider = identity.did
    // No time passes for the gate: on a busy machine what it knows would be stale before it is asked.
    // Its second of silence is a twentieth of one: tests of a store that is down wait for it.
    const timers: Timers = { after: (delay, run) => systemTimers.after(delay / 20, run) }
    const gate = createSubjectGate({ store, provider, clock, timers, uptime: () => seconds(1) })
    return {
      identity,
      gate,
      service: createUcanService({ store: gate.store, identity, observe: metrics.ucan }),
      rates: createRates({ store: gate.store, provider }),
      document: didDocument(identity),
      isFresh: gate.isHeard,
      close: async () => gate.close(),
    }
  }
