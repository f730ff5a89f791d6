/** Puts a signer together: its own database, its keys, its pool of evaluators and its outer limits. */
import type { Store } from '../../core/index.ts'
import {
  accessController,
  checkSignerStore,
  createSigner,
  domainRegistry,
  type Evaluator,
  fixedPhoneQuota,
  jsonRpc,
  type KeyRing,
  loadKeys,
  type RegistryOptions,
  readKeySecret,
  type Signer,
  type SignerEvent,
  startEvaluatorPool,
  wipe,
} from '../../secrets/index.ts'
import type { Log } from '../log.ts'
import { openStore } from '../open-store.ts'
import { tellShared } from '../secret-warnings.ts'
import { VERSION } from '../version.ts'
import { startAuditKeeper } from './audit-keeper.ts'
import { createOuterLimit } from './outer-limit.ts'
import { createSignerMetrics, type SignerMetrics } from './signer-metrics.ts'
import type { SignerSettings } from './signer-settings.ts'
import { refuseExposedSingleKey } from './single-key.ts'

export interface OpenSigner {
  readonly settings: SignerSettings
  readonly signer: Signer
  readonly store: Store
  readonly metrics: SignerMetrics
  /** What may be shown of the keys. */
  readonly keys: Pick<KeyRing, 'current' | 'notices'>
  /** Finishes evaluations, then closes the store and wipes the keys. Once the last request is answered. */
  close(): Promise<void>
}

export const openSigner = async (settings: SignerSettings, log: Log): Promise<OpenSigner> => {
  checkSignerStore(settings.store, { forTests: settings.allowMemory })
  const keys = await openKeys(settings, log)
  let evaluator: Evaluator | undefined
  try {
    refuseExposedSingleKey(keys.notices, settings)
    evaluator = startEvaluatorPool(settings)
    return assemble({ settings, log, keys, evaluator })
  } catch (error) {
    await evaluator?.close()
    keys.wipe()
    throw error
  }
}

async function openKeys(
  { keys, keySecret, currentKey: current }: SignerSettings,
  log: Log,
): Promise<KeyRing> {
  const onShared = tellShared(log)
  const secret = await readKeySecret(keySecret, { onShared })
  try {
    return await loadKeys(keys, secret, { onShared, ...(current !== undefined && { current }) })
  } finally {
    wipe(secret)
  }
}

interface Parts {
  readonly settings: SignerSettings
  readonly log: Log
  readonly keys: KeyRing
  readonly evaluator: Evaluator
}

function assemble({ settings, log, keys, evaluator }: Parts): OpenSigner {
  const metrics = createSignerMetrics({ load: evaluator.load, keys })
  const store = openStore(settings.store, { onCommit: () => metrics.commit() })
  const signer = createSigner({
    store,
    evaluator: {
      evaluate: (...task) => {
        metrics.evaluation()
        return evaluator.evaluate(...task)
      },
    },
    keys,
    registry: domainRegistry(registryOptions(settings)),
    conduct: settings.conduct,
    version: VERSION,
    outerLimit: createOuterLimit(settings),
    observe: (event) => {
      metrics.answer(event)
      logFault(log, event)
    },
  })
  const { keepAudit: keep } = settings
  const keeper = keep === undefined ? undefined : startAuditKeeper({ store, keep, log })
  const close = async (): Promise<void> => {
    await keeper?.stop()
    await evaluator.close()
    await store.close()
    keys.wipe()
  }
  return { settings, signer, store, metrics, keys, close }
}

function registryOptions({ rpcUrl, phoneQuota }: SignerSettings): RegistryOptions {
  return {
    ...(rpcUrl !== undefined && { contracts: accessController(jsonRpc({ url: rpcUrl })) }),
    ...(phoneQuota !== undefined && {
      phoneQuota: fixedPhoneQuota({ base: phoneQuota, verified: 0 }),
    }),
  }
}

/** Refusals are counted and not logged: each is a client's business, and a flood must not fill a disk. */
function logFault(log: Log, { endpoint, outcome, fault }: SignerEvent): void {
  if (fault === undefined) return
  const facts = { err: fault, endpoint, outcome }
  if (outcome === 'STORE_DOWN') log.warn(facts, 'the store failed a request')
  else log.error(facts, 'a request failed by a mistake of ours')
}
