/**
 * The catalog in force, and how it is replaced: when its files change, or when someone asks.
 *
 * Everything that the configuration leads to is loaded together or not at all. A mistake leaves
 * what was in force, and is told in the log, in the status and in the metrics.
 */
import { type Clock, describePosition, HeadgateError } from '../core/index.ts'
import { refuseOpenBinding } from './binding.ts'
import type { Configuration } from './configuration.ts'
import { followFiles } from './follow-files.ts'
import type { CatalogSource } from './headgate.ts'
import type { Log } from './log.ts'
import type { ReloadOutcome } from './metrics.ts'
import type { Settings, TokenRecord } from './settings.ts'

export interface SourceOptions {
  /** What is in force to begin with. */
  readonly first: Configuration
  readonly load: () => Promise<Configuration>
  /** Only a server follows its files; a command lives too shortly. */
  readonly follow: boolean
  readonly log: Log
  readonly clock: Clock
  /** Told of every attempt after the first. */
  readonly onReload: (outcome: ReloadOutcome) => void
}

export interface ConfigurationSource extends CatalogSource {
  tokens(): readonly TokenRecord[]
  /** All that is in force. */
  configuration(): Configuration
}

/** Read when a server starts, and not again. */
const FIXED = [
  'host',
  'port',
  'store',
  'trustProxy',
  'helpLink',
  'operations',
  'logLevel',
  'subjects',
] as const

export const catalogSource = (options: SourceOptions): ConfigurationSource => {
  const { first, load, log, clock, onReload } = options
  let inForce = first
  let loadedAt = clock()
  let problem: string | undefined
  let queue: Promise<void> = Promise.resolve()

  const loadAgain = async (): Promise<void> => {
    try {
      const next = await load()
      // The old host is the one that is bound, whatever the file now says.
      refuseOpenBinding({ host: first.settings.host, tokens: next.settings.tokens })
      inForce = next
      loadedAt = clock()
      problem = undefined
    } catch (error) {
      problem = describeProblem(error)
      log.error(factsOf(error), `reload refused, the last good configuration stays: ${problem}`)
      onReload('refused')
      throw error
    }
    following?.follow(inForce.files)
    announce(log, first.settings, inForce)
    onReload('loaded')
  }
  /** One after another: of two loads at once the older could win. */
  const reload = (): Promise<void> => {
    const turn = queue.then(loadAgain)
    queue = turn.catch(() => {})
    return turn
  }
  // Told in the log already, and nobody waits for it.
  const following = options.follow ? followFiles(() => reload().catch(() => {})) : undefined
  following?.follow(first.files)
  warn(log, first)

  return {
    current: () => inForce.catalog,
    tokens: () => inForce.settings.tokens,
    configuration: () => inForce,
    status: () => ({ loadedAt: Math.floor(loadedAt / 1_000), problem }),
    reload,
    close: () => following?.close(),
  }
}

function warn(log: Log, { catalog }: Configuration): void {
  for (const { code, thing, rule, finding, at } of catalog.warnings) {
    log.warn({ code, at: describePosition(at) }, `${thing}: ${rule}, found ${finding}`)
  }
}

function announce(log: Log, running: Settings, next: Configuration): void {
  const { settings, catalog } = next
  log.info({ limits: catalog.limits.size }, 'configuration reloaded')
  warn(log, next)
  const waiting = FIXED.filter((key) => !isSame(running[key], settings[key]))
  if (waiting.length === 0) return
  log.warn({ settings: waiting }, `changed settings that need a restart: ${waiting.join(', ')}`)
}

/** Settings are plain values, and their readers write keys in one order. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const describeProblem = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

function factsOf(error: unknown): object {
  if (!(error instanceof HeadgateError)) return { err: error }
  const { code, thing, rule, finding, at } = error
  return { code, thing, rule, finding, ...(at && { at: describePosition(at) }) }
}
