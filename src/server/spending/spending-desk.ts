/** Spending as a server runs it: the settings in force, the queue of fees, and whoever reads the balance. */
import { assert, HeadgateError } from '../../core/errors.ts'
import { type Clock, hours, type Store } from '../../core/index.ts'
import {
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
import { type Poller, startPoller } from '../../spending/poller.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { SpendingConfiguration } from './spending-configuration.ts'
import { createSpendingMetrics } from './spending-metrics.ts'

export interface SpendingDesk {
  readonly spending: Spending
  /** In force now. Payer and unit stay what they were at the start: the books are kept in them. */
  settings(): SpendingSettings
  plans(): ConfiguredPlans
  /** Only a server has one, if it is told where. */
  readonly queue: CaptureQueue | undefined
  /** Keeps what it found for the metrics. */
  verify(): Promise<Verification>
  /** To be told after each attempt to load the configuration again. */
  reloaded(): void
  /** Before the store is closed. */
  close(): Promise<void>
}

export interface DeskOptions {
  readonly store: Store
  /** Undefined after spending was taken out of the configuration: then it is off. */
  readonly current: () => SpendingConfiguration | undefined
  /** Only a server polls, queues and compacts; a command lives too shortly. */
  readonly serving: boolean
  readonly log: Log
  readonly clock: Clock
  readonly metrics: Metrics
}

/** How often a server looks for windows that may be compacted. */
const COMPACT_EVERY = hours(1)

export const openDesk = async (options: DeskOptions): Promise<SpendingDesk> => {
  const { store, current, serving, log, metrics } = options
  const first = current()
  assert(first !== undefined, 'a desk is opened for who speaks of spending')
  let known = first
  // A section that was deleted while money is spent is more often a slip than a wish to allow everything.
  const inForce = () => current() ?? known
  const settings = () => settingsInForce(first, inForce())
  const plans = () => inForce().plans
  const told = createSpendingMetrics()
  const spending = createSpending({ store, settings, plans, observe: told.observe })
  const queue = serving ? await openQueue(first, spending, options) : undefined
  const workers = serving ? startWorkers(first, spending, log) : []
  metrics.register((registry) => told.register(registry, { spending, settings, plans, queue }))
  if (serving) await noteStart(spending, log)
  warn(log, first)

  return {
    spending,
    settings,
    plans,
    queue,
    verify: async () => {
      const found = await spending.verify()
      told.verified(found, options.clock())
      return found
    },
    reloaded: () => {
      const next = current()
      if (next === known) return
      announce(log, first, known, next)
      known = next ?? known
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      await queue?.close()
    },
  }
}

function settingsInForce(
  first: SpendingConfiguration,
  now: SpendingConfiguration,
): SpendingSettings {
  const { payer, unit } = first.settings
  return { ...now.settings, payer, unit }
}

async function openQueue(
  { queueFile }: SpendingConfiguration,
  spending: Spending,
  { clock, log }: DeskOptions,
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
): readonly Poller[] {
  const compaction = startPoller({
    ask: () => spending.compact(),
    every: COMPACT_EVERY,
    onAnswer: ({ entries, totals }) => {
      if (entries > 0) log.info({ entries, totals }, 'ledger entries compacted into totals')
    },
    onFault: (err) => log.error({ err }, 'the ledger was not compacted'),
  })
  if (balance === undefined) return [compaction]
  const { mirrorNode: url, account, every } = balance
  const mirrorNode = createMirrorNode({ url })
  const onFault = (err: unknown) => log.warn({ err }, "the operator's balance was not read")
  return [compaction, startBalancePoll({ mirrorNode, account, every, spending, onFault })]
}

/** A store that is away comes back; whoever is admitted first then notes the start. */
async function noteStart(spending: Spending, log: Log): Promise<void> {
  await spending.start().catch((err: unknown) => {
    log.error({ err }, 'the start of spending was not noted')
  })
}

function warn(log: Log, { warnings }: SpendingConfiguration): void {
  for (const warning of warnings) log.warn({}, `spending: ${warning}`)
}

function announce(
  log: Log,
  first: SpendingConfiguration,
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
  warn(log, next)
  const waiting = fixedOf(next).filter(([name, value]) => !fixedOf(first).some(same(name, value)))
  if (waiting.length === 0) return
  const names = waiting.map(([name]) => name)
  log.warn({ settings: names }, `changed settings that need a restart: ${names.join(', ')}`)
}

type Fixed = readonly [name: string, value: string]

const fixedOf = ({ settings, balance, queueFile }: SpendingConfiguration): readonly Fixed[] => [
  ['spending.payer', settings.payer],
  ['spending.unit', JSON.stringify(settings.unit)],
  ['spending.operator.balance', JSON.stringify(balance ?? null)],
  ['spending.queueFile', queueFile ?? ''],
]

const same =
  (name: string, value: string) =>
  ([otherName, otherValue]: Fixed): boolean =>
    name === otherName && value === otherValue
