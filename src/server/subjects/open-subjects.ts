/** Opens the subjects of a server: its identity, its gate and its UCAN service. */
import type { Clock, Store } from '../../core/index.ts'
import { uptime } from '../../stores/clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Environment } from '../options.ts'
import type { Settings } from '../settings.ts'
import { openIdentity } from './open-identity.ts'
import type { Subjects } from './subjects.ts'

export interface OpenSubjectsOptions {
  readonly settings: Settings
  readonly environment: Environment
  readonly store: Store
  readonly metrics: Pick<Metrics, 'ucan' | 'follow'>
  readonly clock: Clock
  readonly log: Log
}

/** Undefined where subjects are off; then nothing of UCAN is even loaded. */
export const openSubjects = async (options: OpenSubjectsOptions): Promise<Subjects | undefined> => {
  const { settings, environment, store, metrics, clock, log } = options
  const identity = await openIdentity(settings, environment, log)
  if (identity === undefined) return undefined
  const door = await import('../../subjects/index.ts')
  const provider = identity.did
  let closed = false

  const isHeard = (): boolean => gate.judge([]).state !== 'unheard'
  const onFailure = (error: unknown): void => {
    if (closed) return
    metrics.follow()
    // The first second of a silence is told; of the rest, metrics and readiness tell.
    if (isHeard()) log.warn({ err: error }, 'the changes of subjects could not be heard')
  }
  const gate = door.createSubjectGate({ store, provider, clock, uptime, onFailure })
  const service = door.createUcanService({ store, identity, observe: metrics.ucan })
  // Whoever asks first must not find that nothing was heard yet. A store that is down may recover.
  await gate.catchUp().catch(onFailure)
  return {
    identity,
    gate,
    service,
    rates: door.createRates({ store, provider }),
    document: door.didDocument(identity),
    isHeard,
    close: () => {
      closed = true
      gate.close()
    },
  }
}
