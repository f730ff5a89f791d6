import type { Clock, Store } from '../../src/core/index.ts'
import type { Metrics } from '../../src/server/metrics.ts'
import type { Subjects } from '../../src/server/subjects/subjects.ts'
import { uptime } from '../../src/stores/clock.ts'
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
    const gate = createSubjectGate({ store, provider, clock, uptime })
    return {
      identity,
      gate,
      service: createUcanService({ store, identity, observe: metrics.ucan }),
      rates: createRates({ store, provider }),
      document: didDocument(identity),
      isHeard: () => gate.judge([]).state !== 'unheard',
      close: gate.close,
    }
  }
