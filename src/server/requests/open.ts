/**
 * The configuration in force, and how it is replaced: when its files change, or when a caller asks.
 *
 * Everything is loaded together or not at all. A mistake leaves what was in force, and shows in the
 * log, in the status and in the metrics.
 */
import { describePosition, HeadgateError } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { followFiles } from '../../lib/follow-files.ts'
import { oneRunAhead } from '../../lib/one-at-a-time.ts'
import { refuseOpenBinding } from '../app/access.ts'
import type { CatalogSource } from '../app/headgate.ts'
import type { Log } from '../app/log.ts'
import type { ReloadOutcome } from '../app/metrics.ts'
import { type Configuration, waitingForRestart } from '../config/configuration.ts'
import type { TokenRecord } from '../config/tokens.ts'

interface SourceOptions {
  /** What is in force to begin with. */
  readonly first: Configuration
  readonly load: () => Promise<Configuration>
  /** Only a server follows its files; a command ends too soon for that. */
  readonly follow: boolean
  readonly log: Log
  readonly clock: Clock
  /** Called after every attempt but the first. */
  readonly onReload: (outcome: ReloadOutcome) => void
}

export interface ConfigurationSource extends CatalogSource {
  tokens(): readonly TokenRecord[]
  /** All that is in force. */
  configuration(): Configuration
}

export const configurationSource = (options: SourceOptions): ConfigurationSource => {
  const { first, load, log, clock, onReload } = options
  let inForce = first
  let loadedAt = clock()
  let problem: string | undefined

  const loadAgain = async (): Promise<void> => {
    try {
      const next = await load()
      // The first host is the one that is bound, whatever the file holds now.
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
    announce(log, first, inForce)
    onReload('loaded')
  }
  // One after another: of two loads at once the older could win. Signals may come in storms.
  const reload = oneRunAhead(loadAgain)
  // The mistake is in the log already, and no caller waits for this reload.
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

function announce(log: Log, running: Configuration, next: Configuration): void {
  log.info({ limits: next.catalog.limits.size }, 'configuration reloaded')
  warn(log, next)
  const waiting = waitingForRestart(running, next)
  if (waiting.length === 0) return
  log.warn({ settings: waiting }, `changed settings that need a restart: ${waiting.join(', ')}`)
}

const describeProblem = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

function factsOf(error: unknown): object {
  if (!(error instanceof HeadgateError)) return { err: error }
  const { code, thing, rule, finding, at } = error
  return { code, thing, rule, finding, ...(at && { at: describePosition(at) }) }
}
