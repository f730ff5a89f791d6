/**
 * A signer behind the server's own HTTP routes, over a cluster pretended in memory and a clock that
 * moves only by `wait`, with an evaluator that counts. It ends with the test that opened it.
 */
import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { Store } from '../../src/core/store.ts'
import { seconds, span } from '../../src/core/time.ts'
import type { Conduct, Endpoint } from '../../src/secrets/domains/domain-kind.ts'
import {
  createSigner,
  domainRegistry,
  type EvaluationKey,
  fixedPhoneQuota,
  type RegistryOptions,
  type SignerEvent,
  type SignerOptions,
} from '../../src/secrets/index.ts'
import { createLogger } from '../../src/server/app/logger.ts'
import { VERSION } from '../../src/server/app/version.ts'
import { createSignerMetrics } from '../../src/server/secrets/metrics.ts'
import { createOuterLimit, type OuterRates } from '../../src/server/secrets/open.ts'
import { createSignerServer } from '../../src/server/secrets/routes.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { fakeClock, pretendedCluster } from '../../src/testing/index.ts'
import { type Reply, replyTo } from './odis-http.ts'

export interface Bench {
  readonly app: ReturnType<typeof createSignerServer>
  readonly evaluations: () => number
  readonly events: SignerEvent[]
  readonly store: Store
  wait(length: number): void
  /** Listens from the first time on. */
  readonly url: () => Promise<string>
  ask(endpoint: Endpoint, body: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Bytes as they are. */
  send(
    endpoint: Endpoint,
    body: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ): Promise<Reply>
}

export interface BenchOptions extends Omit<Partial<SignerOptions>, 'registry' | 'outerLimit'> {
  readonly conduct?: Conduct
  /** Laid over `KINDS`. */
  readonly kinds?: RegistryOptions
  /** Default: none. They use the same clock. */
  readonly limits?: OuterRates
  readonly trustProxy?: readonly string[]
  readonly corsOrigins?: readonly string[]
}

/**
 * Every kind of domain. Phone numbers: two attempts, and one more for the owner of `0xabc`.
 * Contracts: allowed for a client that sends the domain's data; no chain is called.
 */
export const KINDS: RegistryOptions = {
  phoneQuota: fixedPhoneQuota({ base: 2, verified: 1, owns: (_, id) => id === '0xabc' }),
  contracts: {
    ask: async ({ domainData, authorization }) =>
      Buffer.compare(domainData, authorization) === 0 ? undefined : 'other bytes',
  },
}

/** Answers with a hash of its inputs, so that answers to different tags and messages differ. */
const hashEvaluator = (onCall: () => void) => ({
  evaluate: async (key: EvaluationKey, tag: Uint8Array, message: Uint8Array) => {
    onCall()
    const hash = createHash('sha256').update(key.secret).update(tag).update(message)
    return new Uint8Array(hash.digest())
  },
})

const KEY: EvaluationKey = { kind: 'single', secret: new Uint8Array(32) }
const KEYS = {
  current: 1,
  notices: [],
  find: (version: number) => (version === 1 ? KEY : undefined),
}

const TRUSTED = { trusted: true, offBy: span(0), basis: 'record' } as const

const listening = (app: Bench['app']): Bench['url'] => {
  let url: Promise<string> | undefined
  return () => {
    url ??= app.listen({ host: '127.0.0.1', port: 0 })
    return url
  }
}

export const signerBench = (options: BenchOptions = {}): Bench => {
  const {
    conduct = 'cip40',
    kinds,
    limits = {},
    trustProxy = [],
    corsOrigins = [],
    ...rest
  } = options
  const clock = fakeClock()
  const store = options.store ?? pretendedCluster(memory({ clock }))
  const events: SignerEvent[] = []
  let count = 0
  const metrics = createSignerMetrics({ load: () => ({ running: 0, waiting: 0 }), keys: KEYS })
  const signer = createSigner({
    store,
    evaluator: hashEvaluator(() => {
      count += 1
    }),
    keys: KEYS,
    registry: domainRegistry({ ...KINDS, ...kinds }),
    conduct,
    version: VERSION,
    outerLimit: createOuterLimit(limits, memory({ clock })),
    observe: (event) => {
      metrics.answer(event)
      events.push(event)
    },
    ...rest,
  })
  const settings = { trustProxy, corsOrigins }
  const opened = { settings, signer, store, metrics, clock: { verdict: () => TRUSTED } }
  const app = createSignerServer(opened, createLogger('silent'))
  onTestFinished(() => app.close())
  const url = listening(app)
  const send: Bench['send'] = async (endpoint, body, headers = {}) =>
    replyTo(`${await url()}/domain/${endpoint}`, body, headers)
  return {
    app,
    evaluations: () => count,
    events,
    store,
    wait: (length) => clock.advance(seconds(length)),
    url,
    send,
    ask: (endpoint, body, headers) => send(endpoint, JSON.stringify(body), headers),
  }
}
