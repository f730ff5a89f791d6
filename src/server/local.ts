/**
 * The door for commands that do it themselves: the handlers of the API over a pillar that this process
 * opens, without an HTTP server; and a signer as a process. Several processes may share a SQLite file.
 */
import type { FastifyInstance } from 'fastify'
import { systemClock } from '../lib/clock.ts'
import type { Identity } from '../subjects/index.ts'
import { LOCAL_ACCESS } from './app/access.ts'
import type {
  ApiCall,
  ApiHandlers,
  ApiOperation,
  OpenApi,
  RequestOperation,
  SpendingOperation,
  SubjectOperation,
} from './app/endpoints.ts'
import { type HeadgateOptions, type OpenPillar, openPillar } from './app/headgate.ts'
import type { createLogger } from './app/logger.ts'
import { loadConfiguration } from './config/configuration.ts'
import type { SignerSettings } from './secrets/config.ts'
import type { OpenSigner } from './secrets/open.ts'
import { openIdentity, type Subjects, subjectsOff } from './subjects/open.ts'

export { DOCUMENT_KINDS, lintFiles } from './config/lint.ts'

type LocalOptions = Pick<HeadgateOptions, 'flags' | 'environment' | 'clock' | 'onlyLooks'>

export const openRequests = async (options: LocalOptions): Promise<OpenApi<RequestOperation>> => {
  const { requestHandlers } = await import('./requests/routes.ts')
  const { limitHandlers } = await import('./requests/limit-routes.ts')
  const opened = await openPillar('requests', { ...options, needsLimits: true })
  return over(opened, { ...requestHandlers, ...limitHandlers }, options)
}

export const openSpending = async (options: LocalOptions): Promise<OpenApi<SpendingOperation>> => {
  const { spendingHandlers } = await import('./spending/routes.ts')
  const { planHandlers } = await import('./spending/plan-routes.ts')
  const handlers = { ...spendingHandlers, ...planHandlers }
  return over(await openPillar('spending', options), handlers, options)
}

function over<Names extends ApiOperation>(
  headgate: OpenPillar,
  handlers: ApiHandlers<Names>,
  { clock = systemClock }: LocalOptions,
): OpenApi<Names> {
  const call: ApiCall = {
    headgate,
    now: clock,
    // Tokens keep out callers from the network. A process that can open the store needs none.
    access: LOCAL_ACCESS,
    reply: { header: () => {}, code: () => {} },
    problemOf: (error) => {
      throw error
    },
  }
  return { ask: (name, input) => handlers[name](call, input), close: headgate.close }
}

/** Which rates apply to a subject. */
export const openSubjectAnswers = async (
  options: LocalOptions,
): Promise<OpenApi<SubjectOperation>> => {
  const { subjectHandlers } = await import('./subjects/answers.ts')
  return over(await openPillar('subjects', options), subjectHandlers, options)
}

interface SubjectsHere extends Pick<Subjects, 'identity' | 'service' | 'rates'> {
  close(): Promise<void>
}

/** Throws SUBJECTS_OFF where they are not configured. */
export const openSubjectsHere = async (options: LocalOptions): Promise<SubjectsHere> => {
  const { subjects, close } = await openPillar('subjects', options)
  if (subjects !== undefined) return { ...subjects, close }
  await close()
  throw subjectsOff()
}

/** The key of the server here; made and kept if there is none yet. */
export const openOwnIdentity = async (options: LocalOptions): Promise<Identity> => {
  const { environment = {} } = options
  const { settings } = await loadConfiguration(options)
  const identity = await openIdentity(settings, environment)
  if (identity === undefined) throw subjectsOff()
  return identity
}

export { listen } from './app/access.ts'
export { backupStore, checkStore, openStore, openWholeStore } from './app/open-store.ts'
export { findOption } from './config/options.ts'
export { readKeyOptions, readSignerSettings } from './secrets/config.ts'
export type { OpenSigner } from './secrets/open.ts'

interface ServedSignerProcess {
  readonly opened: OpenSigner
  /** It does not listen yet. */
  readonly server: FastifyInstance
  /** Finishes what was accepted, then closes the signer. */
  close(): Promise<void>
}

/** Fastify is loaded only now: making a key and reading the audit stream need none. */
export const serveSigner = async (
  settings: SignerSettings,
  log?: Parameters<typeof createLogger>[1],
): Promise<ServedSignerProcess> => {
  const { createLogger } = await import('./app/logger.ts')
  const { openSigner } = await import('./secrets/open.ts')
  const { createSignerServer } = await import('./secrets/routes.ts')
  const logger = createLogger(settings.logLevel, log)
  const opened = await openSigner(settings, logger)
  const server = createSignerServer(opened, logger)
  const close = async (): Promise<void> => {
    await server.close()
    await opened.close()
  }
  return { opened, server, close }
}
