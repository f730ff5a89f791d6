/** Puts Headgate together from what flags, environment and files say. The one composition root. */
import type { Clock } from '../core/index.ts'
import { createLimiter } from '../requests/index.ts'
import { systemClock } from '../stores/clock.ts'
import { refuseOpenBinding } from './binding.ts'
import { catalogSource } from './catalog-source.ts'
import { loadConfiguration, type Voices } from './configuration.ts'
import type { Headgate } from './headgate.ts'
import { type Log, SILENT } from './log.ts'
import { createMetrics } from './metrics.ts'
import { openStore } from './open-store.ts'

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
  const source = catalogSource({
    first,
    load,
    follow: serving,
    log,
    clock,
    onReload: metrics.reload,
  })
  const limiter = createLimiter({
    store,
    catalog: source.current,
    operations: settings.operations,
    observe: metrics.observe,
  })
  return {
    settings,
    store,
    catalog: source,
    limiter,
    metrics,
    tokens: source.tokens,
    close: async () => {
      source.close()
      await store.close()
    },
  }
}
