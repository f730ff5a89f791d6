/**
 * The metrics of a server, for Prometheus. Labels are names of limits, verbs, outcomes and routes,
 * never ids, so their number is bounded. Every metric has a row in docs/reference/metrics.md.
 */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Answer, ChargeAnswer } from '../../requests/limiter/charge.ts'
import type { LimiterEvent, LimiterVerb } from '../../requests/limiter/verbs.ts'
import { registerSubjectMetrics, type SubjectMetrics } from '../subjects/metrics.ts'
import type { Subjects } from '../subjects/open.ts'
import type { CatalogSource } from './headgate.ts'
import { registerProcessMetrics } from './process-metrics.ts'
import type { ShedReason } from './shed.ts'
import { registerStoreMetrics, type StoreMetrics } from './store-metrics.ts'
import { isInForce } from './store-watch.ts'

export type ReloadOutcome = 'loaded' | 'refused'

export interface Metrics extends Pick<SubjectMetrics, 'ucan' | 'follow'> {
  /** Every answer of the limiter, and every failure of the store. */
  observe(event: LimiterEvent): void
  /** Every commit of the store, with how many calls shared it. */
  commit(group: { readonly calls: number }): void
  /** What a store on another machine tells of itself. */
  readonly store: StoreMetrics
  /** Every attempt to load the catalog again. */
  reload(outcome: ReloadOutcome): void
  /** Every HTTP request that was answered. */
  request(route: string, status: number, seconds: number): void
  /** Every HTTP request that was answered 503 because there were too many. */
  shed(reason: ShedReason): void
  /** For pillars that bring metrics of their own. */
  register(add: (registry: Registry) => void): void
  /** The text that Prometheus reads. Catalog and subjects are read only now. */
  text(catalog: CatalogSource, subjects?: Pick<Subjects, 'isFresh'>): Promise<string>
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
        case 'place':
          return counts.place(event)
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
    store: registerStoreMetrics(registry),
    reload: (outcome) => counts.reloads.add(outcome),
    request: (route, status, seconds) => {
      counts.requests.add(route, String(status))
      requestSeconds.observe({ route }, seconds)
    },
    shed: (reason) => counts.sheds.add(reason),
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
    place: ({ limit, verb, answer }: PlaceEvent): void => {
      if (answer.replayed === true) replays.add(verb)
      else decisions.add(limit, verb, outcomeOf(answer))
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
    sheds: tally(
      'headgate_http_shed_total',
      'HTTP requests answered 503 because there were too many, by reason: in-flight or turn.',
      ['reason'],
    ),
    requests: tally(
      'headgate_http_requests_total',
      'HTTP requests answered, by route and status.',
      ['route', 'status'],
    ),
  }
}

type PlaceEvent = Extract<LimiterEvent, { readonly kind: 'place' }>

type Told = Pick<ChargeAnswer, 'allowed' | 'shadow'> & { readonly reason?: string }

function outcomeOf({ allowed, reason, shadow }: Told): string {
  switch (reason) {
    case 'DISABLED':
      return 'disabled'
    case 'BLOCKED':
      return 'blocked'
    case 'STORE_UNAVAILABLE':
      return 'open'
    default:
      return allowed ? 'allowed' : shadow === true ? 'shadow' : 'refused'
  }
}

/**
 * A counter with labels, kept in plain numbers and copied to its registry when Prometheus asks: the
 * library's own counter hashes its labels at every increment, which costs more than a decision.
 */
export interface Tally {
  /** Label values in the order of the names. */
  add(...values: readonly string[]): void
}

interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  readonly registry: Registry
}

export const createTally = ({ name, help, labels, registry }: TallyOptions): Tally => {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>()
  const counter = new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      counter.reset()
      for (const { values, count } of counts.values()) counter.labels(...values).inc(count)
    },
  })
  return {
    add: (...values) => {
      const key = values.join('\n')
      const row = counts.get(key)
      if (row === undefined) counts.set(key, { values, count: 1 })
      else row.count += 1
    },
  }
}

/** Registers the gauges, and returns a function that fills them from a catalog. */
function registerCatalogMetrics(registry: Registry): (source: CatalogSource) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const loadedAt = gauge(
    'headgate_catalog_loaded_timestamp_seconds',
    'When the catalog in force was loaded, in seconds since the epoch.',
  )
  const stale = gauge(
    'headgate_catalog_stale',
    '1 while the newest files hold a mistake and an older catalog is in force, else 0.',
  )
  const limits = gauge('headgate_limits', 'Limits that have a default, places or an override.')
  const overrides = new Gauge({
    name: 'headgate_overrides',
    help: 'Overrides in force, by limit.',
    labelNames: ['limit'],
    registers: [registry],
  })

  return (source) => {
    const status = source.status()
    const known = [...source.current().limits.values()]
    loadedAt.set(status.loadedAt / 1_000)
    stale.set(status.problem === undefined ? 0 : 1)
    limits.set(known.filter(isInForce).length)
    overrides.reset()
    for (const { name, overrideCount } of known) {
      if (overrideCount > 0) overrides.labels(name).set(overrideCount)
    }
  }
}
