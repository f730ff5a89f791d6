/** What a signer tells Prometheus: endpoints, outcomes and key versions, never a domain or an address. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Evaluator, KeyRing, SignerEvent } from '../../secrets/index.ts'
import { registerProcessMetrics } from '../process-metrics.ts'
import { createTally } from '../tally.ts'

export interface SignerMetrics {
  /** Told of every answer of the domain API. */
  answer(event: SignerEvent): void
  /** Told of every HTTP request, with its time from head to end. */
  request(route: string, status: number, seconds: number): void
  /** Told of every evaluation that is begun. */
  evaluation(): void
  commit(): void
  text(): Promise<string>
  readonly contentType: string
}

/** From a quota status out of memory to an evaluation that waited behind a full queue. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export interface SignerMetricsOptions {
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
  return {
    answer: ({ endpoint, outcome }) => answers.add(endpoint, outcome),
    request: (route, status, length) => {
      requests.add(route, String(status))
      seconds.observe({ route }, length)
    },
    evaluation: () => evaluations.inc(),
    commit: () => commits.inc(),
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

function registerKeys(
  registry: Registry,
  { current, notices }: SignerMetricsOptions['keys'],
): void {
  const info = new Gauge({
    name: 'headgate_signer_key_info',
    help: 'Always 1 for each key that is open, by version, kind and whether it is the current one.',
    labelNames: ['version', 'kind', 'current'],
    registers: [registry],
  })
  for (const { version, kind } of notices) {
    info.labels(String(version), kind, String(version === current)).set(1)
  }
}
