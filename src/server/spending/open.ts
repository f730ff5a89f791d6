/** Spending as a server or a command opens it: the settings in force, the queue of fees, the balance poll. */
import { assert, HeadgateError } from '../../core/errors.ts'
import { type ClockVerdict, describeClock, type MachineReading } from '../../core/machine-clock.ts'
import type { Store } from '../../core/store.ts'
import { type Clock, hours } from '../../core/time.ts'
import { uptime } from '../../lib/clock.ts'
import { type Poller, startPoller } from '../../lib/poller.ts'
import {
  type Anchor,
  type CaptureQueue,
  type ConfiguredPlans,
  createMirrorNode,
  createSpending,
  diffPlans,
  openCaptureQueue,
  type Spending,
  type SpendingSettings,
  startBalancePoll,
  type Verification,
} from '../../spending/index.ts'
import { settingsAfterReload } from '../../spending/settings/settings.ts'
import { type ClockWatch, httpTime, startClockWatch } from '../app/clock.ts'
import type { ApiCall } from '../app/endpoints.ts'
import type { Log } from '../app/log.ts'
import type { Metrics } from '../app/metrics.ts'
import { httpMistake } from '../app/problems.ts'
import { startAuditor } from './auditor.ts'
import { logPlans, logWarnings, type SpendingConfiguration } from './config.ts'

export interface SpendingService {
  readonly spending: Spending
  /** In force now. Those that need a restart are the ones of the start. */
  settings(): SpendingSettings
  plans(): ConfiguredPlans
  /** How a plan would stand in this window if these plans were in force. */
  standingUnder(plans: ConfiguredPlans): Spending['plan']
  /** Only a server has one, where `spending.queueFile` names it. */
  readonly queue: CaptureQueue | undefined
  /** Keeps what it found for the metrics. */
  verify(anchor?: Anchor): Promise<Verification>
  /** Why nothing is spent, where the clock is the reason. */
  untrusted(): readonly string[]
  /** Call it after each attempt to load the configuration again. */
  reloaded(): void
  /** Before the store is closed. */
  close(): Promise<void>
}

interface SpendingServiceOptions {
  readonly store: Store
  /** Undefined after spending was taken out of the configuration; then the last one stays in force. */
  readonly current: () => SpendingConfiguration | undefined
  /** Only a server polls, queues and compacts; a command lives too shortly. */
  readonly serving: boolean
  readonly log: Log
  readonly clock: Clock
  /** Undefined where the store has a clock of its own: then the machine's is not judged. */
  readonly machine?: (() => MachineReading) | undefined
  /** Only a server is measured. */
  readonly metrics?: Metrics | undefined
}

/** How often a server looks for windows that may be compacted. */
const COMPACT_EVERY = hours(1)

export const openSpendingService = async (
  options: SpendingServiceOptions,
): Promise<SpendingService> => {
  const { store, current, serving, log, metrics } = options
  const first = current()
  assert(first !== undefined, 'spending is opened only where it is configured')
  let known = first
  // A section that was deleted while money is spent is more often a slip than a wish to allow everything.
  const inForce = () => current() ?? known
  const settings = settingsInForce(first, inForce)
  const plans = () => inForce().plans
  const measured = metrics && (await import('./metrics.ts')).createSpendingMetrics()
  const judged = {
    store,
    settings,
    machine: options.machine,
    timeSources: first.timeSources.map((url) => httpTime(url)),
  }
  const observed = measured && { observe: measured.observe }
  const spending = createSpending({ ...judged, plans, ...observed })
  const clock = serving ? await watchClock(spending, options, measured?.clock) : undefined
  const queue = serving ? await openQueue(first, spending, options) : undefined
  const verified = (found: Verification) => measured?.verified(found, options.clock())
  const workers = serving ? startWorkers(first, spending, log, verified) : []
  metrics?.register((registry) =>
    measured?.register(registry, { spending, settings, plans, queue }),
  )
  if (serving) {
    logPlans(log, first)
    await noteStart(spending, log)
  }
  logWarnings(log, first)

  return {
    spending,
    settings,
    plans,
    standingUnder: (next) => createSpending({ ...judged, plans: () => next }).plan,
    queue,
    verify: async (anchor) => {
      const found = await spending.verify(anchor)
      verified(found)
      return found
    },
    untrusted: () => (spending.isEnabled() ? whyUntrusted(clock) : []),
    reloaded: () => {
      const next = current()
      if (next === known) return
      announce(log, known, next)
      known = next ?? known
    },
    close: async () => {
      await clock?.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
      await queue?.close()
    },
  }
}

const watchClock = (
  spending: Spending,
  { log, machine }: SpendingServiceOptions,
  onVerdict: (verdict: ClockVerdict) => void = () => {},
): Promise<ClockWatch> | undefined =>
  machine &&
  startClockWatch({
    look: spending.lookAtClock,
    consequence: 'nothing is spent',
    sources: 'spending.timeSources',
    log,
    onVerdict,
  })

function whyUntrusted(clock: ClockWatch | undefined): readonly string[] {
  const verdict = clock?.verdict()
  if (clock === undefined || verdict?.trusted === true) return []
  return [`spending: ${describeClock(verdict)}`]
}

/** Asked at every request, so they are put together once for each configuration. */
function settingsInForce(first: SpendingConfiguration, inForce: () => SpendingConfiguration) {
  let known = first
  let { settings } = first
  return (): SpendingSettings => {
    const now = inForce()
    if (now !== known) {
      known = now
      settings = settingsAfterReload(first, now)
    }
    return settings
  }
}

async function openQueue(
  { queueFile }: SpendingConfiguration,
  spending: Spending,
  { clock, log }: SpendingServiceOptions,
): Promise<CaptureQueue | undefined> {
  if (queueFile === undefined) return undefined
  const onFault = (err: unknown) => log.warn({ err }, 'a queued fee is not booked yet')
  const onRefused = (error: unknown, file: string) =>
    log.error({ ...factsOf(error), file }, 'a queued fee cannot be booked: it was put aside')
  const queue = await openCaptureQueue({ path: queueFile, spending, clock, onFault, onRefused })
  const { pending, damaged } = queue.status()
  if (pending > 0) log.info({ pending }, 'fees were waiting in the queue')
  if (damaged > 0) log.error({ damaged }, 'lines of the queue could not be read')
  return queue
}

/** Without the stack: it is a caller's mistake. */
function factsOf(error: unknown): object {
  if (!(error instanceof HeadgateError)) return { err: error }
  const { code, thing, rule, finding } = error
  return { code, thing, rule, finding }
}

function startWorkers(
  { balance }: SpendingConfiguration,
  spending: Spending,
  log: Log,
  onRound: (found: Verification) => void,
): readonly Poller[] {
  const auditor = startAuditor({ spending, log, uptime, onRound })
  const compaction = startPoller({
    ask: () => spending.compact(),
    every: COMPACT_EVERY,
    onAnswer: ({ entries, balances }) => {
      if (entries + balances > 0) log.info({ entries, balances }, 'the ledger was compacted')
    },
    onFault: (err) => log.error({ err }, 'the ledger was not compacted'),
  })
  if (balance === undefined) return [auditor, compaction]
  const { mirrorNode: url, account, every } = balance
  const mirrorNode = createMirrorNode({ url })
  const onFault = (err: unknown) => log.warn({ err }, "the operator's balance was not read")
  return [auditor, compaction, startBalancePoll({ mirrorNode, account, every, spending, onFault })]
}

/** A store that is down comes back; the first admission then notes the start. */
async function noteStart(spending: Spending, log: Log): Promise<void> {
  await spending.start().catch((err: unknown) => {
    log.error({ err }, 'the start of spending was not noted')
  })
}

function announce(
  log: Log,
  before: SpendingConfiguration,
  next: SpendingConfiguration | undefined,
): void {
  if (next === undefined) {
    log.warn(
      {},
      'spending left the configuration: it stays as it was until a restart; a total of 0 turns it off',
    )
    return
  }
  const { added, removed, updated, linksAdded, linksRemoved } = diffPlans(
    before.plans.entries,
    next.plans.entries,
  )
  const facts = {
    added: added.length,
    removed: removed.length,
    updated: updated.length,
    linksAdded,
    linksRemoved,
  }
  log.info(facts, 'spending plans reloaded')
  logWarnings(log, next)
}

/** For the routes of spending: SPENDING_OFF where it is not configured. */
export const requireSpending = ({ headgate }: Pick<ApiCall, 'headgate'>): SpendingService => {
  const { spending } = headgate
  if (spending !== undefined) return spending
  throw httpMistake({
    code: 'SPENDING_OFF',
    thing: 'spending',
    rule: 'is configured by a section of that name in headgate.yml, or by HBAR_RATE_LIMIT_TINYBAR',
    finding: 'neither',
  })
}
