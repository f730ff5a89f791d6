/** A signer's metrics: endpoints, outcomes and key versions, never a domain or an address. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type {
  ClockVerdict,
  Evaluator,
  EvaluatorErrorCode,
  KeyRing,
  SignerEvent,
} from '../../secrets/index.ts'
import { createTally, type ReloadOutcome } from '../app/metrics.ts'
import { registerProcessMetrics } from '../app/process-metrics.ts'
import { registerStoreMetrics, type StoreMetrics } from '../app/store-metrics.ts'

export interface SignerMetrics {
  /** Called for every answer of the domain API, and for every path or method that it does not have. */
  answer(event: CountedAnswer): void
  /** Called for every HTTP request, with its time from head to end. */
  request(route: string, status: number, seconds: number): void
  /** Called for every evaluation that begins. */
  evaluation(): void
  /** Called for every thread that broke, and was replaced. */
  evaluatorFailure(code: EvaluatorErrorCode): void
  commit(): void
  /** What a store on another machine tells of itself. */
  readonly store: StoreMetrics
  /** Called after every look at the clock. */
  clock(verdict: ClockVerdict): void
  /** Called for every attempt to read the keys again. */
  reload(outcome: ReloadOutcome): void
  text(): Promise<string>
  readonly contentType: string
}

/** From a quota status to an evaluation that waited behind a full queue. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

interface CountedAnswer {
  readonly endpoint: SignerEvent['endpoint'] | 'status' | 'none'
  readonly outcome: SignerEvent['outcome']
}

interface SignerMetricsOptions {
  readonly load: Evaluator['load']
  readonly keys: Pick<KeyRing, 'current' | 'notices'>
}

export const createSignerMetrics = ({ load, keys }: SignerMetricsOptions): SignerMetrics => {
  const registry = new Registry()
  const registers = [registry]
  registerProcessMetrics(registry)
  registerLoad(registry, load)
  registerKeys(registry, keys)
  const tally = (name: string, help: string, labels: readonly string[]) =>
    createTally({ name, help, labels, registry })
  const answers = tally(
    'headgate_signer_answers_total',
    'Answers of the domain API, by endpoint and outcome.',
    ['endpoint', 'outcome'],
  )
  const requests = tally(
    'headgate_http_requests_total',
    'HTTP requests answered, by route and status.',
    ['route', 'status'],
  )
  const seconds = new Histogram({
    name: 'headgate_http_request_seconds',
    help: 'From the head of a request to the end of its answer, by route.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  })
  const commits = new Counter({
    name: 'headgate_store_commits_total',
    help: 'Commits of the store; on SQLite each is one sync of the disk.',
    registers,
  })
  const evaluations = new Counter({
    name: 'headgate_signer_evaluations_total',
    help: 'Evaluations begun. Only requests that are authenticated and within their quota get here.',
    registers,
  })
  const failures = tally(
    'headgate_signer_evaluator_failures_total',
    'Threads that broke and were replaced, by what was seen of it.',
    ['code'],
  )
  const reloads = tally(
    'headgate_signer_key_reloads_total',
    'Attempts to read the keys again, by outcome: loaded or refused.',
    ['outcome'],
  )
  return {
    answer: ({ endpoint, outcome }) => answers.add(endpoint, outcome),
    request: (route, status, length) => {
      requests.add(route, String(status))
      seconds.observe({ route }, length)
    },
    evaluation: () => evaluations.inc(),
    reload: (outcome) => reloads.add(outcome),
    evaluatorFailure: (code) => failures.add(code),
    commit: () => commits.inc(),
    store: registerStoreMetrics(registry),
    clock: registerClock(registry),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function registerLoad(registry: Registry, load: Evaluator['load']): void {
  const tasks: Gauge = new Gauge({
    name: 'headgate_signer_pool_tasks',
    help: 'Evaluations in the pool just now: running on a thread, or waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      const { running, waiting } = load()
      tasks.labels('running').set(running)
      tasks.labels('waiting').set(waiting)
    },
  })
}

function registerClock(registry: Registry): SignerMetrics['clock'] {
  const registers = [registry]
  const trusted = new Gauge({
    name: 'headgate_signer_clock_trusted',
    help: '1 while the clock is trusted. At 0 nothing is signed.',
    registers,
  })
  const offset = new Gauge({
    name: 'headgate_signer_clock_offset_seconds',
    help: 'How far the clock is ahead of what was recorded; negative: behind.',
    registers,
  })
  return (verdict) => {
    trusted.set(verdict.trusted ? 1 : 0)
    offset.set('offBy' in verdict ? verdict.offBy / 1_000_000 : 0)
  }
}

function registerKeys(registry: Registry, keys: SignerMetricsOptions['keys']): void {
  const info: Gauge = new Gauge({
    name: 'headgate_signer_key_info',
    help: 'Always 1 for each key that is open, by version, kind and whether it is the current one.',
    labelNames: ['version', 'kind', 'current'],
    registers: [registry],
    collect: () => {
      info.reset()
      const { current, notices } = keys
      for (const { version, kind } of notices) {
        info.labels(String(version), kind, String(version === current)).set(1)
      }
    },
  })
}
