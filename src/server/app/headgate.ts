/** Headgate put together from flags, environment and files. The one composition root. */
import type { Store } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { systemClock } from '../../lib/clock.ts'
import { thisMachine } from '../../lib/machine.ts'
import type { Catalog } from '../../requests/catalog/catalog.ts'
import { createLimiter, type Limiter } from '../../requests/limiter/verbs.ts'
import {
  type ConfigSources,
  type Configuration,
  loadConfiguration,
} from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { TokenRecord } from '../config/tokens.ts'
import { type ConfigurationSource, configurationSource } from '../requests/open.ts'
import type { SpendingService } from '../spending/open.ts'
import { openSubjects, type Subjects } from '../subjects/open.ts'
import { refuseOpenBinding } from './access.ts'
import { type Log, SILENT } from './log.ts'
import type { Metrics, ReloadOutcome } from './metrics.ts'
import { openStore } from './open-store.ts'
import { failurePolicies, type StoreWatch, watchStore } from './store-watch.ts'

export interface CatalogStatus {
  /** When the catalog in force was loaded, in milliseconds since the epoch. */
  readonly loadedAt: number
  /** Why the newest files are not in force; undefined when they are. */
  readonly problem: string | undefined
}

export interface CatalogSource {
  current(): Catalog
  status(): CatalogStatus
  /** Loads the files again. A mistake in one leaves the last good catalog in force and is thrown. */
  reload(): Promise<void>
  close(): void
}

export interface Headgate {
  /** As they were when it opened, those included that a reload changes. */
  readonly settings: Settings
  readonly store: Store
  readonly catalog: CatalogSource
  readonly limiter: Limiter
  readonly metrics: Metrics
  /** Absent where it is not configured. */
  readonly spending?: SpendingService
  /** Absent where they are off. */
  readonly subjects?: Subjects
  readonly storeWatch: Pick<StoreWatch, 'downSince'>
  /** Those in force now. To be asked at every request, so that a revoked token is revoked at once. */
  tokens(): readonly TokenRecord[]
  close(): Promise<void>
}

export interface HeadgateOptions extends ConfigSources {
  /**
   * It will listen: then files are followed, and without a token the host must be loopback. A program
   * that answers and ends needs neither.
   */
  readonly serving?: boolean
  /** For a command that changes nothing. */
  readonly onlyLooks?: boolean
  /** For reloads and failures; nothing is logged unless given. */
  readonly log?: Log
  /** For the times that a catalog was loaded; decisions use the store's. */
  readonly clock?: Clock
}

/** Throws a `HeadgateError` for the first mistake; nothing is open then. */
export const openHeadgate = async (options: HeadgateOptions = {}): Promise<Headgate> => {
  const { createMetrics } = await import('./metrics.ts')
  const metrics = createMetrics()
  const opened = await open(options, ['requests', 'spending', 'subjects'], metrics)
  return { ...opened, metrics }
}

type PillarName = 'requests' | 'spending' | 'subjects'

/**
 * As much of Headgate as one pillar needs, for a command: it answers and ends, so nothing is
 * measured. What belongs to other pillars is neither loaded nor opened.
 */
export const openPillar = (
  pillar: PillarName,
  options: Pick<HeadgateOptions, 'flags' | 'environment' | 'needsLimits' | 'clock' | 'onlyLooks'>,
): Promise<OpenPillar> => open(options, PILLAR_NEEDS[pillar])

export type OpenPillar = Omit<Headgate, 'metrics'>

/** Requests ask subjects for blocks. */
const PILLAR_NEEDS: Readonly<Record<PillarName, readonly PillarName[]>> = {
  requests: ['requests', 'subjects'],
  spending: ['spending'],
  subjects: ['subjects'],
}

async function open(
  options: HeadgateOptions,
  pillars: readonly PillarName[],
  metrics?: Metrics,
): Promise<OpenPillar> {
  const { serving = false, clock = systemClock, log = SILENT, environment = {} } = options
  const load = () => loadConfiguration(options)
  const first = await load()
  const { settings } = first
  if (serving) refuseOpenBinding(settings)
  let inForce = () => first.catalog
  const storeWatch = watchStore({
    store: settings.store,
    log,
    clock,
    metrics: metrics?.store,
    policies: () => failurePolicies(inForce()),
  })
  const store = await openStore(settings.store, {
    observe: storeWatch.observe,
    ...(metrics && { onCommit: metrics.commit, onGroup: metrics.store.group }),
    onlyLooks: options.onlyLooks === true,
    mustKeep:
      first.spending !== undefined && pillars.includes('spending') && !settings.acceptRedisLosses,
  })
  const parts = { first, load, environment, store, metrics, serving, clock, log, pillars }
  try {
    const opened = await putTogether(parts)
    inForce = opened.catalog.current
    return { ...opened, storeWatch }
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Parts {
  readonly first: Configuration
  readonly load: () => Promise<Configuration>
  readonly environment: Environment
  readonly store: Store
  readonly metrics: Metrics | undefined
  readonly serving: boolean
  readonly clock: Clock
  readonly log: Log
  readonly pillars: readonly PillarName[]
}

async function putTogether(parts: Parts): Promise<Omit<OpenPillar, 'storeWatch'>> {
  const { first, load, store, metrics, serving, clock, log, pillars } = parts
  const { settings } = first
  const { rememberFor, perToken } = settings.operations
  const subjects = pillars.includes('subjects')
    ? await openSubjects({ ...parts, settings })
    : undefined
  let spending: SpendingService | undefined
  const onReload = (outcome: ReloadOutcome): void => {
    metrics?.reload(outcome)
    spending?.reloaded()
  }
  const source = configurationSource({ first, load, follow: serving, log, clock, onReload })
  spending = await openSpending(parts, source).catch((error: unknown) => {
    source.close()
    void subjects?.close()
    throw error
  })
  const limiter = createLimiter({
    store,
    catalog: source.current,
    operations: { rememberFor, perScope: perToken },
    ...(metrics && { observe: metrics.observe }),
    ...(subjects && { guard: subjects.gate }),
  })
  return {
    settings,
    store,
    catalog: source,
    limiter,
    ...(subjects && { subjects }),
    ...(spending && { spending }),
    tokens: source.tokens,
    close: async () => {
      source.close()
      await spending?.close()
      await subjects?.close()
      await store.close()
    },
  }
}

/** Loaded only where it is configured. */
async function openSpending(
  { first, store, metrics, serving, clock, log, pillars }: Parts,
  source: ConfigurationSource,
): Promise<SpendingService | undefined> {
  if (first.spending === undefined || !pillars.includes('spending')) return undefined
  const { openSpendingService } = await import('../spending/open.ts')
  const current = () => source.configuration().spending
  // Also where the store has a clock of its own: if that leaps, the uptime of those who ask shows it.
  const machine = thisMachine()
  return openSpendingService({ store, metrics, serving, clock, log, current, machine })
}
