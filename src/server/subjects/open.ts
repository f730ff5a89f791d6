/** Opens subjects for a server or a command: their identity, their gate and their UCAN service. */
import { existsSync } from 'node:fs'
import type { HeadgateError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { type Clock, seconds } from '../../core/time.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { uptime } from '../../lib/clock.ts'
import { startPoller } from '../../lib/poller.ts'
import type { Identity, Rates, SubjectGate, UcanService } from '../../subjects/index.ts'
import type { ApiCall } from '../app/endpoints.ts'
import { type Log, logSharedSecret, SILENT } from '../app/log.ts'
import { type HttpErrorCode, httpMistake } from '../app/problems.ts'
import type { Settings } from '../config/settings.ts'
import { parseStoreUrl } from '../config/store-url.ts'
import { keyFileOf, subjectSettings, UCAN_KEY_VARIABLE } from './config.ts'
import type { SubjectMetrics } from './metrics.ts'

export interface Subjects {
  /** The service's own. Holds its secret: never to be logged or answered. */
  readonly identity: Identity
  /** Asked before every charge. That of a server follows the changes of all servers. */
  readonly gate: SubjectGate
  /** Behind `POST /ucan`. */
  readonly service: UcanService
  /** For people's questions: straight from the store, a round trip each. */
  readonly rates: Rates
  /** The answer at `/.well-known/did.json`. */
  readonly document: object
  /** Whether the gate has heard from the store within the last second that this process ran. */
  isFresh(): boolean
  /** Before the store: what was counted is added to it. */
  close(): Promise<void>
}

interface OpenSubjectsOptions {
  readonly settings: Settings
  readonly environment: Environment
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** A command follows nothing: it reads the rates of the subjects that it is asked about. */
  readonly serving: boolean
  /** Only a server is measured. */
  readonly metrics?: Pick<SubjectMetrics, 'ucan' | 'follow'> | undefined
}

/** How often blocks refused is told to the store this often. */
const FLUSH_EVERY = seconds(5)

/** Undefined where subjects are off; then nothing of UCAN is even loaded. */
export const openSubjects = async (options: OpenSubjectsOptions): Promise<Subjects | undefined> => {
  const { settings, environment, store, metrics, clock, log, serving } = options
  const identity = await openIdentity(settings, environment, log)
  if (identity === undefined) return undefined
  const door = await import('../../subjects/index.ts')
  const provider = identity.did

  const onFailure = (error: unknown): void => {
    metrics?.follow()
    // Logged only in the first second of an outage; after that, metrics and readiness show it.
    if (gate.isHeard()) log.warn({ err: error }, 'the changes of subjects could not be read')
  }
  const refusals = door.createRefusalCounts({ store, provider, clock })
  const gate = serving
    ? door.createSubjectGate({
        store,
        provider,
        clock,
        uptime,
        onFailure,
        onBlocked: refusals.count,
      })
    : door.createSubjectLookup({ store, provider })
  const service = door.createUcanService({
    store: gate.store,
    identity,
    ...(metrics && { observe: metrics.ucan }),
  })
  // The first request must not find the gate empty. A store that is down may recover later.
  await gate.catchUp().catch(onFailure)
  const flushing = startPoller({
    ask: refusals.flush,
    every: FLUSH_EVERY,
    onAnswer: () => {},
    // The gate tells of a store that is down; these counts wait for it.
    onFault: () => {},
  })
  return {
    identity,
    gate,
    service,
    rates: door.createRates({ store: gate.store, provider }),
    document: door.didDocument(identity),
    isFresh: gate.isHeard,
    close: async () => {
      gate.close()
      await flushing.stop()
      await refusals.flush().catch(() => {})
    },
  }
}

/**
 * The key from the environment, from its file, or made now and kept. Undefined where subjects are
 * off; then nothing of UCAN is even loaded. Logs a warning for a key file that a group can read.
 */
export const openIdentity = async (
  settings: Settings,
  environment: Environment,
  log: Log = SILENT,
): Promise<Identity | undefined> => {
  const section = subjectSettings(settings, environment)
  if (section === undefined) return undefined
  const { openKeyFile, parseIdentity } = await import('../../subjects/index.ts')
  const did = section.identity
  const secret = environment[UCAN_KEY_VARIABLE]
  if (secret !== undefined) return parseIdentity(secret, did)
  const path = keyFileOf(settings)
  if (!existsSync(path)) warnOfOwnKey(settings, path, log)
  return openKeyFile({ path, did, onShared: logSharedSecret(log) })
}

/** Rates belong to a key: a block that one server takes would not hold on others, and nothing would show it. */
function warnOfOwnKey({ store }: Settings, file: string, log: Log): void {
  const { kind } = parseStoreUrl(store)
  if (kind === 'memory' || kind === 'sqlite') return
  const others = 'other servers on this store share its rates only with the same key'
  log.warn({ file }, `subjects: this server makes a key of its own; ${others}`)
}

export const requireSubjects = ({ headgate }: Pick<ApiCall, 'headgate'>): Subjects => {
  if (headgate.subjects !== undefined) return headgate.subjects
  throw subjectsOff()
}

/** The answer to every question about subjects where they are off. */
export const subjectsOff = (): HeadgateError<HttpErrorCode> =>
  httpMistake({
    code: 'SUBJECTS_OFF',
    thing: 'subjects',
    rule: 'are administered only where headgate.yml has a section of that name',
    finding: 'none',
  })
