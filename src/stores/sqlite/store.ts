/**
 * A store in one SQLite file: durable before it answers, shared by several processes, with nothing
 * to start. The answer waits for an fsync, and all calls of one moment share that wait.
 */
import { resolve } from 'node:path'
import type { Store } from '../../core/store.ts'
import { type Clock, type Span, seconds, type Uptime } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import { checkName, checkPage, checkPosition } from '../bounds.ts'
import { type Connection, connect } from './connection.ts'
import { checkDatabasePath } from './database.ts'
import { storeClosed } from './errors.ts'
import { callQueue } from './queue.ts'
import type { Statements } from './statements.ts'
import { type CommittedGroup, machineUptime, openTransactions } from './transactions.ts'

export interface SqliteOptions {
  /** The database file; created, readable by its owner only, if it does not exist. */
  readonly path: string
  /** Instead of the system's clock. All processes on one file should agree on the time. */
  readonly clock?: Clock
  /** Real time, whatever the clock is set to; how long the machine has run unless told. */
  readonly uptime?: Uptime
  /** How long a call waits for other processes before it rejects with STORE_CONTENDED; 5 s. */
  readonly patience?: Span
  /** Called for each commit, after its calls were answered. */
  readonly onCommit?: (group: CommittedGroup) => void
}

/**
 * Throws a `HeadgateError` with a `SqliteErrorCode` if the file cannot be a store. Opening may
 * block, up to `patience`, while other processes create the same file; no later call does.
 *
 * @example
 * import { limiter } from 'headgate'
 * import { sqlite } from 'headgate/sqlite'
 *
 * const store = sqlite('headgate.db')
 * const exports = limiter({ store, limits: { Exports: { burst: 2, period: '24h' } } })
 * console.log((await exports.spend('Exports', 'ann')).allowed)
 * await store.close()
 */
export function sqlite(pathOrOptions: string | SqliteOptions): Store {
  const options = typeof pathOrOptions === 'string' ? { path: pathOrOptions } : pathOrOptions
  const { clock = systemClock, uptime = machineUptime } = options
  const { patience = seconds(5), onCommit = () => {} } = options
  checkDatabasePath(options.path)
  // From here on the same file, even if the process changes its directory.
  const path = resolve(options.path)
  const connection = connect(path, patience)
  const steps = openTransactions(connection, { path, patience, clock, uptime, onCommit })
  // Two queues, so that reads, which need no lock, do not wait behind trims, which do.
  const reads = errands(connection, path, patience)
  const trimming = trims(errands(connection, path, patience))
  let closing: Promise<void> | undefined

  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw storeClosed(path)
  }

  return {
    atHand: true,
    transact: async (step, _guess, intent) => {
      refuseIfClosed()
      return steps.run(step, intent)
    },
    read: async (stream, after, limit) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(after)
      checkPage(limit)
      return reads.run((sql) => sql.entries(stream, after, limit))
    },
    range: async (index, after, limit) => {
      refuseIfClosed()
      checkName('index', index)
      checkPage(limit)
      return reads.run((sql) => sql.range(index, after, limit))
    },
    trim: async (stream, before) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(before)
      return trimming.trim(stream, before)
    },
    partition: () => '',
    scan: async (cursor, limit) => {
      refuseIfClosed()
      checkPage(limit)
      // The last key that was shown: it tells where to go on, whatever else is written meanwhile.
      const items = await reads.run((sql) => sql.scan(cursor, limit))
      const last = items.length < limit ? undefined : items.at(-1)?.key
      return { items, ...(last !== undefined && { next: last }) }
    },
    close: () => {
      closing ??= Promise.all([steps.drained(), reads.drained(), trimming.drained()]).then(() =>
        connection.close(),
      )
      return closing
    },
  }
}

/** Work on the file that needs no view: pages for readers, and trimming. */
interface Errands {
  /** `work` may run more than once. */
  run<T>(work: (sql: Statements) => T): Promise<T>
  drained(): Promise<void>
}

interface Errand {
  /** Does the work and returns what answers the caller. */
  work(sql: Statements): () => void
  reject(error: unknown): void
}

function errands(connection: Connection, path: string, patience: Span): Errands {
  const waiting = callQueue<Errand>({
    path,
    patience,
    serve: (group) => {
      const endings = connection.use((sql) => group.map(({ work }) => work(sql)))
      for (const end of endings) end()
    },
    fail: ({ reject }, error) => reject(error),
  })
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const perform = (sql: Statements) => {
          const result = work(sql)
          return () => resolve(result)
        }
        waiting.push({ work: perform, reject })
      }),
    drained: waiting.drained,
  }
}

/** Entries forgotten at once: a long stream must not hold up the calls between. */
const TRIM_BATCH = 1_000

function trims(errands: Errands) {
  const underWay = new Set<Promise<void>>()

  const trimAll = async (stream: string, before: number): Promise<void> => {
    let forgotten = TRIM_BATCH
    while (forgotten === TRIM_BATCH) {
      forgotten = await errands.run((sql) => sql.trim(stream, before, TRIM_BATCH))
    }
  }

  return {
    trim: (stream: string, before: number): Promise<void> => {
      const trimmed = trimAll(stream, before).finally(() => underWay.delete(trimmed))
      underWay.add(trimmed)
      return trimmed
    },
    drained: async (): Promise<void> => {
      await Promise.allSettled(underWay)
    },
  }
}
