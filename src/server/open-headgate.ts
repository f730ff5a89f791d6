/** Puts Headgate together from what flags, environment and files say. The one composition root. */
import type { Clock, Store } from '../core/index.ts'
import { createLimiter } from '../requests/index.ts'
import { systemClock } from '../stores/clock.ts'
import { refuseOpenBinding } from './binding.ts'
import { type ConfigurationSource, catalogSource } from './catalog-source.ts'
import { type Configuration, loadConfiguration, type Voices } from './configuration.ts'
import type { Headgate } from './headgate.ts'
import { type Log, SILENT } from './log.ts'
import { createMetrics, type Metrics, type ReloadOutcome } from './metrics.ts'
import { openStore } from './open-store.ts'
import type { SpendingDesk } from './spending/spending-desk.ts'
import { openSubjects } from './subjects/open-subjects.ts'

export interface OpenOptions extends Voices {
  /**
   * It will listen: then files are followed, and without a token the host must be loopback. Off
   * unless told: whoever answers and ends needs neither.
   */
  readonly serving?: boolean
  /** Told of reloads. */
  readonly log?: Log
  /** For the times that a catalog was loaded; decisions use the store's. */
  readonly clock?: Clock
}

/** Throws a `HeadgateError` for the first mistake; nothing is open then. */
export const openHeadgate = async (options: OpenOptions = {}): Promise<Headgate> => {
  const { serving = false, clock = systemClock, log = SILENT } = options
  const load = () => loadConfiguration(options)
  const first = await load()
  const { settings } = first
  if (serving) refuseOpenBinding(settings)
  const metrics = createMetrics()
  const store = openStore(settings.store, { onCommit: metrics.commit })
  const { environment = {} } = options
  try {
    return await putTogether({ first, load, environment, store, metrics, serving, clock, log })
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Parts {
  readonly first: Configuration
  readonly load: () => Promise<Configuration>
  readonly environment: NonNullable<Voices['environment']>
  readonly store: Store
  readonly metrics: Metrics
  readonly serving: boolean
  readonly clock: Clock
  readonly log: Log
}

async function putTogether(parts: Parts): Promise<Headgate> {
  const { first, load, environment, store, metrics, serving, clock, log } = parts
  const { settings } = first
  const subjects = await openSubjects({ settings, environment, store, metrics, clock, log })
  let spending: SpendingDesk | undefined
  const onReload = (outcome: ReloadOutcome): void => {
    metrics.reload(outcome)
    spending?.reloaded()
    if (first.spending === undefined && source.configuration().spending !== undefined) {
      log.warn({ settings: ['spending'] }, 'changed settings that need a restart: spending')
    }
  }
  const source = catalogSource({ first, load, follow: serving, log, clock, onReload })
  spending = await openSpending(parts, source).catch((error: unknown) => {
    source.close()
    subjects?.close()
    throw error
  })
  const limiter = createLimiter({
    store,
    catalog: source.current,
    operations: settings.operations,
    observe: metrics.observe,
    ...(subjects && { guard: subjects.gate }),
  })
  return {
    settings,
    store,
    catalog: source,
    limiter,
    metrics,
    ...(subjects && { subjects }),
    ...(spending && { spending }),
    tokens: source.tokens,
    close: async () => {
      source.close()
      await spending?.close()
      subjects?.close()
      await store.close()
    },
  }
}

/** Loaded only for those who spend. */
async function openSpending(
  { first, store, metrics, serving, clock, log }: Parts,
  source: ConfigurationSource,
): Promise<SpendingDesk | undefined> {
  if (first.spending === undefined) return undefined
  const { openDesk } = await import('./spending/spending-desk.ts')
  const current = () => source.configuration().spending
  return openDesk({ store, metrics, serving, clock, log, current })
}
