/**
 * A store in one SQLite file: durable before it answers, shared by several processes, with nothing
 * to start. The answer waits for an fsync, and all calls of one moment share that wait.
 */
import { resolve } from 'node:path'
import type { Store } from '../../core/store.ts'
import { type Clock, type Span, seconds } from '../../core/time.ts'
import { systemClock } from '../clock.ts'
import { checkName, checkPage, checkPosition } from '../plan.ts'
import { connect } from './connection.ts'
import { checkPath } from './database.ts'
import { errands } from './errands.ts'
import { closed } from './errors.ts'
import type { CommittedGroup } from './group.ts'
import { transactions } from './transactions.ts'
import { trims } from './trims.ts'

export interface SqliteOptions {
  /** The database file; created, readable by its owner only, if it does not exist. */
  readonly path: string
  /** Instead of the system's clock. All processes on one file should agree on the time. */
  readonly clock?: Clock
  /** How long a call waits for other processes before it rejects with STORE_CONTENDED; 5 s. */
  readonly patience?: Span
  /** Told of each commit, after its calls were answered. */
  readonly onCommit?: (group: CommittedGroup) => void
}

/**
 * Throws a `HeadgateError` with a `SqliteErrorCode` if the file cannot be a store. Opening may
 * block, up to `patience`, while other processes create the same file; no later call does.
 */
export function sqliteStore(options: SqliteOptions): Store {
  const { clock = systemClock, patience = seconds(5), onCommit = () => {} } = options
  checkPath(options.path)
  // From here on the same file, wherever the process goes.
  const path = resolve(options.path)
  const connection = connect(path, patience)
  const steps = transactions(connection, { path, patience, clock, onCommit })
  // Two lines, so that readers, who need no lock, do not wait behind trims, which do.
  const reads = errands(connection, path, patience)
  const trimming = trims(errands(connection, path, patience))
  let closing: Promise<void> | undefined

  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw closed(path)
  }

  return {
    transact: async (step) => {
      refuseIfClosed()
      return steps.run(step)
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
      return reads.run((sql) => sql.range(index, after, limit, clock()))
    },
    trim: async (stream, before) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(before)
      return trimming.trim(stream, before)
    },
    partition: () => '',
    scan: async (after, limit) => {
      refuseIfClosed()
      checkPage(limit)
      return reads.run((sql) => sql.scan(after, limit, clock()))
    },
    close: () => {
      closing ??= Promise.all([steps.drained(), reads.drained(), trimming.drained()]).then(() =>
        connection.close(),
      )
      return closing
    },
  }
}
