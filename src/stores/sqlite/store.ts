/**
 * A store in one SQLite file: durable before it answers, shared by several processes, with nothing
 * to start. The answer waits for an fsync, and all calls of one moment share that wait.
 */
import { resolve } from 'node:path'
import type { Moving, RestoredStream, Store, Write } from '../../core/store.ts'
import { type Clock, type Span, seconds, type Uptime } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import { checkName, checkPage, checkPosition, checkRestored } from '../bounds.ts'
import { storeFenced } from '../fence.ts'
import { type Connection, connect } from './connection.ts'
import { checkDatabasePath } from './database.ts'
import { storeClosed } from './errors.ts'
import { callQueue } from './queue.ts'
import type { FileState, Statements } from './statements.ts'
import { type CommittedGroup, livedTime, machineUptime, openTransactions } from './transactions.ts'

export interface SqliteOptions {
  /** The database file; created, readable by its owner only, if it does not exist. */
  readonly path: string
  /** Instead of the system's clock. All processes on one file should agree on the time. */
  readonly clock?: Clock
  /** Real time, whatever the clock is set to; how long the machine has run unless told. */
  readonly uptime?: Uptime
  /** How long a call waits for other processes before it rejects with STORE_CONTENDED; 5 s. */
  readonly patience?: Span
  /** For one who only looks: needs no right to write the file or its folder. A step that writes rejects. */
  readonly readOnly?: boolean
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
  const { patience = seconds(5), onCommit = () => {}, readOnly = false } = options
  checkDatabasePath(options.path)
  // From here on the same file, even if the process changes its directory.
  const path = resolve(options.path)
  const connection = connect(path, patience, readOnly)
  const settings = { path, patience, clock, uptime, onCommit, readOnly }
  const steps = openTransactions(connection, settings)
  // Two queues, so that reads, which need no lock, do not wait behind trims, which do.
  const reads = errands(connection, path, patience)
  const trimming = trims(errands(connection, path, patience), path)
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
    moving: sqliteMoving({
      run: async (work) => {
        refuseIfClosed()
        return reads.run(work)
      },
      clock,
      uptime,
    }),
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

function trims(errands: Errands, path: string) {
  const underWay = new Set<Promise<void>>()

  const trimAll = async (stream: string, before: number): Promise<void> => {
    let forgotten = TRIM_BATCH
    while (forgotten === TRIM_BATCH) {
      forgotten = await errands.run((sql) =>
        within(sql, ({ fence }) => {
          if (fence !== undefined) throw storeFenced(path, fence)
          return sql.trim(stream, before, TRIM_BATCH)
        }),
      )
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

// The file as a whole, for those who move it: its streams, its fence, and putting back what was elsewhere.

interface MovingOptions {
  /** `work` may run more than once. */
  run<T>(work: (sql: Statements) => T): Promise<T>
  readonly clock: Clock
  readonly uptime: Uptime
}

const sqliteMoving = ({ run, clock, uptime }: MovingOptions): Moving => {
  const change = (work: (sql: Statements, state: FileState) => void): Promise<void> =>
    run((sql) => within(sql, (state) => work(sql, state)))
  return {
    status: () =>
      run((sql) => ({ fence: sql.state().fence, clocks: [clock()], keys: sql.countKeys() })),
    fence: (why) => change((sql) => sql.recordFence(why)),
    streams: async (after, limit) => {
      checkPage(limit)
      const streams = await run((sql) => sql.streams(after, limit))
      const last = streams.length < limit ? undefined : streams.at(-1)?.stream
      return { streams, ...(last !== undefined && { next: last }) }
    },
    restore: async (writes, streams) => {
      checkRestored(writes, streams)
      await change((sql, state) => {
        const [now, lived] = [clock(), livedTime(sql, state, uptime)]
        for (const write of writes) restoreItem(sql, write, lived - now)
        restoreStreams(sql, streams, state.lastPosition)
      })
    },
  }
}

/** `shift` leads from the clock to how long the file has lived. */
function restoreItem(sql: Statements, { key, value, expiresAt }: Write, shift: number): void {
  const keptUntil = expiresAt === undefined ? undefined : expiresAt + shift
  if (value === undefined) sql.remove(key)
  else sql.put(key, { value, expiresAt, keptUntil })
}

function restoreStreams(sql: Statements, streams: readonly RestoredStream[], newest: number): void {
  for (const { stream, last, entries } of streams) {
    for (const entry of entries) sql.restoreEntry(stream, entry)
    if (last > (entries.at(-1)?.position ?? 0)) sql.recordHead({ stream, last })
  }
  const last = Math.max(newest, ...streams.map((head) => head.last))
  if (last > newest) sql.recordLast(last)
}

/** One transaction of its own, with the lock that writing takes: whoever wrote before has committed. */
function within<T>(sql: Statements, work: (state: FileState) => T): T {
  sql.begin()
  try {
    const result = work(sql.state())
    sql.commit()
    return result
  } catch (cause) {
    try {
      sql.rollback()
    } catch {
      // SQLite has rolled back by itself: the failure that led here is the one to report.
    }
    throw cause
  }
}
