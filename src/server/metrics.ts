/**
 * What Headgate tells Prometheus. Low cardinality: labels are names of limits, verbs, outcomes and
 * routes, never ids. Every metric has a row in docs/reference/metrics.md.
 */
import { Counter, Histogram, Registry } from 'prom-client'
import type { Answer, ChargeAnswer, LimiterEvent, LimiterVerb } from '../requests/index.ts'
import { registerCatalogMetrics } from './catalog-metrics.ts'
import type { CatalogSource } from './headgate.ts'
import { registerProcessMetrics } from './process-metrics.ts'
import { registerSubjectMetrics, type SubjectMetrics } from './subject-metrics.ts'
import type { Subjects } from './subjects/subjects.ts'
import { createTally } from './tally.ts'

export type ReloadOutcome = 'loaded' | 'refused'

export interface Metrics extends Pick<SubjectMetrics, 'ucan' | 'follow'> {
  /** Told of every answer and every failure of the store. */
  observe(event: LimiterEvent): void
  /** Told of every commit of the store, with how many calls shared it. */
  commit(group: { readonly calls: number }): void
  /** Told of every attempt to load the catalog again. */
  reload(outcome: ReloadOutcome): void
  /** Told of every HTTP request that was answered. */
  request(route: string, status: number, seconds: number): void
  /** For pillars that bring metrics of their own. */
  register(add: (registry: Registry) => void): void
  /** The text that Prometheus reads. Catalog and subjects are asked only now. */
  text(catalog: CatalogSource, subjects?: Pick<Subjects, 'isHeard'>): Promise<string>
  readonly contentType: string
}

/** From a decision in memory to one that waited for a slow disk. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** A commit of one call has gained nothing by waiting; one of 100 has saved 99 syncs. */
const CALLS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const counts = createCounts(registry)
  const showCatalog = registerCatalogMetrics(registry)
  const subjectMetrics = registerSubjectMetrics(registry)
  registerProcessMetrics(registry)
  const requestSeconds = new Histogram({
    name: 'headgate_http_request_seconds',
    help: 'From the head of a request to the end of its answer, by route.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [registry],
  })

  return {
    observe: (event) => {
      switch (event.kind) {
        case 'answer':
          return counts.answer(event.verb, event.answer)
        case 'store-failure':
          return counts.storeFailures.add(event.open ? 'open' : 'closed')
        default:
          return event satisfies never
      }
    },
    commit: ({ calls }) => {
      counts.commits.inc()
      counts.commitCalls.observe(calls)
    },
    reload: (outcome) => counts.reloads.add(outcome),
    request: (route, status, seconds) => {
      counts.requests.add(route, String(status))
      requestSeconds.observe({ route }, seconds)
    },
    ucan: subjectMetrics.ucan,
    follow: subjectMetrics.follow,
    register: (add) => add(registry),
    text: (catalog, subjects) => {
      showCatalog(catalog)
      subjectMetrics.show(subjects)
      return registry.metrics()
    },
    contentType: registry.contentType,
  }
}

function createCounts(registry: Registry) {
  const tally = (name: string, help: string, labels: readonly string[]) =>
    createTally({ name, help, labels, registry })
  const decisions = tally(
    'headgate_decisions_total',
    'What each limit said to each charge, by limit, verb and outcome.',
    ['limit', 'verb', 'outcome'],
  )
  const replays = tally(
    'headgate_replays_total',
    'Answers repeated for an operation id that was used before, by verb.',
    ['verb'],
  )
  return {
    /** A replay decided nothing, so it counts apart. */
    answer: (verb: LimiterVerb, { charges, replayed }: Answer): void => {
      if (replayed === true) replays.add(verb)
      else for (const charge of charges) decisions.add(charge.limit, verb, outcomeOf(charge))
    },
    storeFailures: tally(
      'headgate_store_failures_total',
      'Decisions that the store failed, by what the limits then said: open or closed.',
      ['policy'],
    ),
    commits: new Counter({
      name: 'headgate_store_commits_total',
      help: 'Commits of the store; on SQLite each is one sync of the disk.',
      registers: [registry],
    }),
    commitCalls: new Histogram({
      name: 'headgate_store_commit_calls',
      help: 'How many calls shared one commit.',
      buckets: CALLS,
      registers: [registry],
    }),
    reloads: tally(
      'headgate_catalog_reloads_total',
      'Attempts to load the catalog again, by outcome: loaded or refused.',
      ['outcome'],
    ),
    requests: tally(
      'headgate_http_requests_total',
      'HTTP requests answered, by route and status.',
      ['route', 'status'],
    ),
  }
}

function outcomeOf({ allowed, reason }: ChargeAnswer): string {
  if (reason === 'disabled' || reason === 'blocked') return reason
  if (reason === 'store-unavailable') return 'open'
  return allowed ? 'allowed' : 'refused'
}
