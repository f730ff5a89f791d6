/** Opens a signer: its own database, its keys, its pool of evaluators and its outer limits. */

import { decideAll } from '../../core/decide.ts'
import { parseDuration } from '../../core/duration.ts'
import { assert } from '../../core/errors.ts'
import type { GcraLimit } from '../../core/gcra.ts'
import type { Store, View } from '../../core/store.ts'
import { type Span, seconds } from '../../core/time.ts'
import { thisMachine } from '../../lib/machine.ts'
import { oneRunAhead } from '../../lib/one-at-a-time.ts'
import { type Poller, startPoller, type Timers } from '../../lib/poller.ts'
import { clientAddress } from '../../net/client-address.ts'
import {
  accessController,
  accountQuota,
  checkSignerStore,
  createSigner,
  domainRegistry,
  type Evaluator,
  jsonRpc,
  type KeyRing,
  type MachineReading,
  type OuterVerdict,
  type PhoneAccounts,
  type RegistryOptions,
  type Signer,
  type SignerEvent,
  startEvaluatorPool,
  trimAudit,
  watchClock,
} from '../../secrets/index.ts'
import { memory } from '../../stores/memory/index.ts'
import { type ClockWatch, httpTime, startClockWatch } from '../app/clock.ts'
import { createSampler } from '../app/journal.ts'
import type { Log } from '../app/log.ts'
import { openStore } from '../app/open-store.ts'
import { watchStore } from '../app/store-watch.ts'
import { VERSION } from '../app/version.ts'
import type { OuterRate, SignerSettings } from './config.ts'
import { openFiles, type SignerFiles } from './files.ts'
import { createSignerMetrics, type SignerMetrics } from './metrics.ts'

export interface OpenSigner {
  readonly settings: SignerSettings
  readonly signer: Signer
  readonly store: Store
  readonly metrics: SignerMetrics
  readonly clock: Pick<ClockWatch, 'verdict'>
  /** What may be shown of the keys that are open now. */
  readonly keys: Pick<KeyRing, 'current' | 'notices'>
  /** Reads keys and accounts again. Rejects for what it could not read, once that is logged; all stay as they were. */
  reload(): Promise<void>
  /** To be called once the last request is answered. Finishes evaluations, closes the store, wipes the keys. */
  close(): Promise<void>
}

export const openSigner = async (
  settings: SignerSettings,
  log: Log,
  machine = thisMachine(),
): Promise<OpenSigner> => {
  checkSignerStore(settings.store, { forTests: settings.allowMemory })
  const files = await openFiles(settings, log)
  const { keys } = files
  let evaluator: Evaluator | undefined
  try {
    const metrics = createSignerMetrics({ load: () => evaluator?.load() ?? NO_LOAD, keys })
    evaluator = startEvaluatorPool({
      ...settings,
      onFailure: (error) => {
        metrics.evaluatorFailure(error.code)
        log.error(
          { err: error, code: error.code },
          'a thread that evaluates broke; the next task starts another',
        )
      },
    })
    return await assemble({ settings, log, files, evaluator, metrics, machine })
  } catch (error) {
    await evaluator?.close()
    keys.wipe()
    throw error
  }
}

const NO_LOAD = { running: 0, waiting: 0 }

interface Parts {
  readonly settings: SignerSettings
  readonly log: Log
  readonly files: SignerFiles
  readonly evaluator: Evaluator
  readonly metrics: SignerMetrics
  readonly machine: () => MachineReading
}

async function assemble(parts: Parts): Promise<OpenSigner> {
  const { settings, log, files, evaluator, metrics, machine } = parts
  const { keys } = files
  const { observe } = watchStore({ store: settings.store, log, metrics: metrics.store })
  const store = await openStore(settings.store, {
    observe,
    onCommit: () => metrics.commit(),
    onGroup: metrics.store.group,
    mustKeep: !settings.acceptRedisLosses,
  })
  const sources = settings.timeSources.map((url) => httpTime(url))
  const clock = await startClockWatch({
    look: () => watchClock({ store, machine, sources }),
    consequence: 'nothing is signed',
    sources: '--time-sources',
    log,
    onVerdict: metrics.clock,
  })
  const logFault = faultLogger(log)
  const signer = createSigner({
    store,
    machine,
    evaluator: {
      evaluate: (...task) => {
        metrics.evaluation()
        return evaluator.evaluate(...task)
      },
    },
    keys,
    registry: domainRegistry(registryOptions(settings, files.accounts)),
    conduct: settings.conduct,
    version: VERSION,
    outerLimit: createOuterLimit(settings),
    observe: (event) => {
      metrics.answer(event)
      logFault(event)
    },
  })
  const { keepAudit: keep } = settings
  const keeper = keep === 'forever' ? undefined : startAuditKeeper({ store, keep, log, clock })
  const close = async (): Promise<void> => {
    await keeper?.stop()
    await clock.stop()
    await evaluator.close()
    await store.close()
    keys.wipe()
  }
  // One after another: of two at once the older could win. Signals may come in storms.
  const reload = oneRunAhead(() => files.reload(metrics.reload))
  return { settings, signer, store, metrics, clock, keys, reload, close }
}

function registryOptions(
  { rpcUrl, phoneQuota: base, phoneVerifiedQuota: verified = 0, deprecated }: SignerSettings,
  accounts: () => PhoneAccounts,
): RegistryOptions {
  return {
    ...(rpcUrl !== undefined && { contracts: accessController(jsonRpc({ url: rpcUrl })) }),
    ...(base !== undefined && { phoneQuota: accountQuota({ base, verified, accounts }) }),
    deprecated,
  }
}

/** Refusals are counted and not logged, and of a store that is down one a second: a flood must not fill a disk. */
function faultLogger(log: Log): (event: SignerEvent) => void {
  const sampleDown = createSampler({ oneIn: 1, perSecond: 1 }, () => performance.now())
  return ({ endpoint, outcome, fault }) => {
    if (fault === undefined) return
    const facts = { err: fault, endpoint, outcome }
    if (outcome === 'STORE_DOWN') {
      const leftOut = sampleDown()
      if (leftOut !== undefined) log.warn({ ...facts, leftOut }, 'the store failed a request')
    } else if (outcome === 'CHAIN_DOWN') log.warn(facts, 'the node of the chain failed a request')
    // The pool told of its thread already, and the block that a chain has not come to is the client's choice.
    else if (outcome !== 'EVALUATOR_DOWN' && outcome !== 'CHAIN_BEHIND') {
      log.error(facts, 'a request failed by a fault of the signer')
    }
  }
}

interface AuditKeeperOptions {
  readonly store: Store
  /** For how long entries are kept. */
  readonly keep: Span
  readonly log: Log
  readonly clock: Pick<ClockWatch, 'verdict'>
  readonly timers?: Timers
}

/** At 10,000 entries a time this forgets 1,000 a second: as many as the default outer limit admits. */
const TRIM_EVERY = seconds(10)

/**
 * Forgets old audit entries while a signer runs: at once, then every ten seconds. Not while the clock
 * is not trusted: one that is a quarter ahead would have them all forgotten.
 */
export const startAuditKeeper = ({ store, keep, log, clock, timers }: AuditKeeperOptions): Poller =>
  startPoller({
    ask: async () => {
      if (clock.verdict()?.trusted === true) await trimAudit(store, keep)
    },
    every: TRIM_EVERY,
    // Under load there is something to forget every time: not worth a line in the log.
    onAnswer: () => {},
    onFault: (err) => log.warn({ err }, 'old audit entries were not forgotten yet'),
    ...(timers && { timers }),
  })

/** What the clients of a signer may send before any domain is looked at. */
export type OuterRates = Partial<Pick<SignerSettings, 'perAddress' | 'inAll'>>

type OuterLimit = (client: string | undefined) => Promise<OuterVerdict>

/**
 * Limits by address and in all, charged before a domain and in a step of their own (CIP-40). Their
 * buckets are kept in this process: a flood must not reach the disk, and a restart that forgets them
 * gives no domain an attempt back.
 */
export const createOuterLimit = (
  { perAddress, inAll }: OuterRates,
  store: Store = memory(),
): OuterLimit => {
  const [address, all] = [toLimit(perAddress), toLimit(inAll)]
  return async (client) => {
    const charges = [
      ...(address && client !== undefined
        ? [charge(`address/${clientAddress(client) ?? client}`, address)]
        : []),
      ...(all ? [charge('all', all)] : []),
    ]
    if (charges.length === 0) return { allowed: true }
    const step = (view: View) => {
      const { decision, kept } = decideAll(charges, view)
      const writes = kept.filter((write) => write !== undefined)
      return { writes, appends: [], result: decision }
    }
    const { allowed, retryIn } = await store.transact(
      step,
      charges.map(({ key }) => key),
    )
    if (allowed) return { allowed }
    return retryIn === 'never' ? { allowed } : { allowed, retryIn }
  }
}

const charge = (key: string, limit: GcraLimit) => ({ key, limit, cost: 1, mode: 'spend' }) as const

function toLimit(rate: OuterRate | 'none' = 'none'): GcraLimit | undefined {
  if (rate === 'none') return undefined
  const period = parseDuration(rate.period)
  assert(period !== undefined && period > 0, 'the settings hold durations only')
  return { kind: 'gcra', burst: rate.count, count: rate.count, period }
}
