/** Whether a store answers: what `/readyz` asks, here and in a signer. */
import { answer, type Store } from '../../core/index.ts'
import { PROBE_TIMEOUT_MS } from './bounds.ts'

/**
 * The reasons why not; none if it answers. Callers of one moment share a probe, so that nobody
 * loads the store by asking how it is.
 */
export const createProbe = (store: Store): (() => Promise<readonly string[]>) => {
  let pending: Promise<readonly string[]> | undefined
  return () => {
    pending ??= probeOnce(store).finally(() => {
      pending = undefined
    })
    return pending
  }
}

async function probeOnce(store: Store): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, [`store: silent for ${PROBE_TIMEOUT_MS} ms`])
  })
  const asked = store.transact(() => answer<readonly string[]>([])).catch(describeFailure)
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

const describeFailure = (error: unknown): readonly string[] => [
  `store: ${error instanceof Error ? error.message : String(error)}`,
]
