/** A signer over a memory store and a clock that stands still, with an evaluator that counts. */
import { createHash } from 'node:crypto'
import { type Store, seconds } from '../../src/core/index.ts'
import type { Conduct, Endpoint } from '../../src/secrets/claim.ts'
import {
  createSigner,
  type SignerEvent,
  type SignerOptions,
  type SignerResponse,
} from '../../src/secrets/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { listenSigner } from './odis-http.ts'
import { EVALUATION_KEY, registry } from './odis-requests.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: {
    readonly success: boolean
    readonly version: string
    readonly error?: string
    readonly signature?: string
    readonly status?: Readonly<Record<string, number | boolean>>
  }
}

export interface Bench {
  readonly evaluations: () => number
  readonly events: SignerEvent[]
  readonly store: Store
  wait(length: number): void
  /** Over HTTP. */
  ask(endpoint: Endpoint, body: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Without it. */
  raw(path: string, body: Uint8Array, method?: string): Promise<Reply>
}

export interface BenchOptions extends Partial<SignerOptions> {
  readonly conduct?: Conduct
}

/** Answers with a hash of its inputs: which tag and message it was asked about can be told, and no more. */
export const hashEvaluator = (told: () => void = () => {}) => ({
  evaluate: async (key: { secret: Uint8Array }, tag: Uint8Array, message: Uint8Array) => {
    told()
    const hash = createHash('sha256').update(key.secret).update(tag).update(message)
    return new Uint8Array(hash.digest())
  },
})

export const signerBench = (options: BenchOptions = {}): Bench => {
  const clock = fakeClock()
  const store = options.store ?? memoryStore({ clock })
  const events: SignerEvent[] = []
  let count = 0
  const signer = createSigner({
    store,
    evaluator: hashEvaluator(() => {
      count += 1
    }),
    keys: { current: 1, find: (version) => (version === 1 ? EVALUATION_KEY : undefined) },
    registry,
    version: '0.0.0-test',
    observe: (event) => events.push(event),
    ...options,
  })
  let served: Promise<{ url: string }> | undefined
  return {
    evaluations: () => count,
    events,
    store,
    wait: (length) => clock.advance(seconds(length)),
    ask: async (endpoint, body, headers = {}) => {
      served ??= listenSigner(signer)
      const response = await fetch(`${(await served).url}/domain/${endpoint}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      const told = Object.fromEntries(response.headers)
      return reply({ status: response.status, headers: told, body: await response.text() })
    },
    raw: async (path, body, method = 'POST') =>
      reply(await signer.handle({ method, path, headers: {}, body })),
  }
}

const reply = (response: SignerResponse): Reply => ({
  ...response,
  body: JSON.parse(response.body),
})
