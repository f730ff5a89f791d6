/**
 * Steps on their way into the file: those of one moment form a group, run one after another over one
 * view, and are committed once, with one fsync.
 */
import { uptime as systemUptime } from 'node:os'
import type { Append, Commit, Intent, Key, Step, Value, View, Write } from '../../core/store.ts'
import { type Clock, type Instant, type Span, span, type Uptime } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'
import { checkCommit, checkKeys } from '../bounds.ts'
import { storeFenced } from '../fence.ts'
import type { Connection } from './connection.ts'
import { sqliteMistake } from './errors.ts'
import { callQueue } from './queue.ts'
import type { FileState, Statements } from './statements.ts'

export interface Transactions {
  run<R>(step: Step<R>, intent?: Intent): Promise<R>
  drained(): Promise<void>
}

interface TransactionsOptions {
  readonly path: string
  readonly patience: Span
  readonly clock: Clock
  readonly uptime: Uptime
  readonly onCommit: (group: CommittedGroup) => void
  readonly readOnly: boolean
}

/** What one commit carried. */
export interface CommittedGroup {
  readonly calls: number
  readonly writes: number
  readonly appends: number
}

export function openTransactions(
  connection: Connection,
  { path, patience, clock, uptime, onCommit, readOnly }: TransactionsOptions,
): Transactions {
  const sweep = createSweep()
  const fail = ({ reject }: StepCall, error: unknown): void => reject(error)
  const calls = callQueue<StepCall>({
    path,
    patience,
    serve: (group) => {
      const { endings, committed } = connection.use((sql) =>
        runGroup(sql, group, { path, clock, uptime, sweep }),
      )
      for (const end of endings) end()
      // Apart from the group: a listener that throws must fail no call.
      if (committed !== undefined) queueMicrotask(() => onCommit(committed))
    },
    fail,
  })
  // In a queue of their own: a look waits neither for another process's writes nor behind our own.
  const looks = callQueue<StepCall>({
    path,
    patience,
    serve: (group) => {
      for (const end of connection.use((sql) => runLooks(sql, group, { path, clock }))) {
        end()
      }
    },
    fail,
  })
  return {
    run: (step, intent) =>
      new Promise((resolve, reject) => {
        const enter: StepCall['enter'] = (over) => {
          const commit = step(over.view)
          if (readOnly) refuseChanges(commit, path)
          over.apply(commit, intent)
          // Not of the commit: all that earlier steps wrote would be kept until the group has ended.
          const { result } = commit
          return () => resolve(result)
        }
        const queue = intent === 'look' || readOnly ? looks : calls
        queue.push({ enter, reject })
      }),
    drained: async () => {
      await Promise.all([calls.drained(), looks.drained()])
    },
  }
}

function refuseChanges({ writes, appends }: Commit<unknown>, path: string): void {
  if (writes.length + appends.length === 0) return
  const rule = 'must be open for writing to be changed'
  throw sqliteMistake('STORE_READ_ONLY', path, rule, 'open for looking only')
}

interface StepCall {
  /** Runs the step over the group's view; returns what answers the caller. */
  enter(over: Overlay): () => void
  reject(error: unknown): void
}

interface GroupOutcome {
  /** One for each call, to be run only now: the group is on the disk. */
  readonly endings: readonly (() => void)[]
  /** Absent if nothing was to be written, and so nothing was synced. */
  readonly committed: CommittedGroup | undefined
}

interface GroupTools {
  readonly path: string
  readonly clock: Clock
  readonly uptime: Uptime
  readonly sweep: Sweep
}

/** Throws only if the database does; then nothing of the group was applied. */
function runGroup(
  sql: Statements,
  calls: readonly StepCall[],
  { path, clock, uptime, sweep }: GroupTools,
): GroupOutcome {
  sql.begin()
  try {
    // Under the lock, so that on one clock no later group sees an earlier time.
    const now = clock()
    const state = unfencedState(sql, path)
    const over = overlay(sql, now)
    const endings = calls.map((call) => enter(call, over))
    if (over.isUnchanged()) {
      sql.rollback()
      return { endings, committed: undefined }
    }
    const lived = livedTime(sql, state, uptime)
    const { writes, appends } = over.flush(lived, state.lastPosition)
    sweep(sql, writes, now, lived)
    sql.commit()
    return { endings, committed: { calls: calls.length, writes, appends } }
  } catch (cause) {
    rollBack(sql)
    throw cause
  }
}

/** The steps that only look, over one view, without the lock that writing takes. */
function runLooks(
  sql: Statements,
  calls: readonly StepCall[],
  { path, clock }: Pick<GroupTools, 'path' | 'clock'>,
): readonly (() => void)[] {
  sql.beginLook()
  try {
    // SQLite fixes the view at the first read: only a later time is none before what it shows.
    unfencedState(sql, path)
    const over = overlay(sql, clock())
    return calls.map((call) => enter(call, over))
  } finally {
    rollBack(sql)
  }
}

/** Within the transaction, so that nothing is under way when a fence is up. */
function unfencedState(sql: Statements, path: string): FileState {
  const state = sql.state()
  if (state.fence !== undefined) throw storeFenced(path, state.fence)
  return state
}

/** What a step throws ends its own call; what the database throws ends the group. */
function enter(call: StepCall, over: Overlay): () => void {
  let ending: () => void
  try {
    ending = call.enter(over)
  } catch (thrown) {
    ending = () => call.reject(thrown)
  }
  const failure = over.failure()
  if (failure !== undefined) throw failure.cause
  return ending
}

/** SQLite rolls back by itself after some failures; then there is nothing left to roll back. */
function rollBack(sql: Statements): void {
  try {
    sql.rollback()
  } catch {
    // The failure that led here is the one to report.
  }
}

/**
 * What the steps of one group see: the database, and over it what earlier steps of the group have
 * pending. Each key is fetched once and written once, however many steps touch it.
 */
interface Overlay {
  readonly view: View
  /** The database failed under a read; set even if the step swallowed it. */
  failure(): { readonly cause: unknown } | undefined
  apply(commit: Commit<unknown>, intent: Intent | undefined): void
  isUnchanged(): boolean
  /** Hands everything pending to the database; answers how much that was. */
  flush(lived: Span, lastPosition: number): { readonly writes: number; readonly appends: number }
}

function overlay(sql: Statements, now: Instant): Overlay {
  const seen = new Map<Key, Value | undefined>()
  const pending = new Map<Key, Write>()
  const found = new Set<Key>()
  const appends: Append[] = []
  let failure: { readonly cause: unknown } | undefined

  const fetch = (key: Key): Value | undefined => {
    if (seen.has(key)) return seen.get(key)
    try {
      const value = sql.get(key)
      seen.set(key, value)
      if (value !== undefined) found.add(key)
      return value
    } catch (cause) {
      failure = { cause }
      throw cause
    }
  }

  return {
    view: {
      now,
      read: (...keys) => {
        checkKeys(keys)
        return keys.map(fetch)
      },
    },
    failure: () => failure,
    apply: (commit, intent) => {
      checkCommit(commit, intent)
      for (const write of commit.writes) {
        pending.set(write.key, write)
        seen.set(write.key, write.value)
      }
      for (const append of commit.appends) appends.push(append)
    },
    isUnchanged: () => pending.size + appends.length === 0,
    flush: (lived, lastPosition) => {
      for (const { key, value, expiresAt } of pending.values()) {
        const keptUntil = expiresAt === undefined ? undefined : lived + Math.max(0, expiresAt - now)
        if (value === undefined) sql.remove(key)
        else if (found.has(key)) sql.change(key, { value, expiresAt, keptUntil })
        else sql.put(key, { value, expiresAt, keptUntil })
      }
      let position = lastPosition
      for (const { stream, entry } of appends) sql.append(stream, { position: ++position, entry })
      if (position > lastPosition) sql.recordLast(position)
      return { writes: pending.size, appends: appends.length }
    },
  }
}

/** Above one, so that the sweep comes round before as many keys were added as it passed. */
const SWEPT_PER_WRITE = 2

/** Runs inside the group's transaction, after its writes. */
type Sweep = (sql: Statements, writes: number, now: Instant, lived: Span) => void

/**
 * Forgets expired keys by going round the table, a little with every group that writes anyway.
 *
 * Not by an index on the expiry: each charge moves it, which would cost a second tree its rewrite;
 * the sweep costs nothing that can be measured (54–61 k decisions/s with it, 56–59 k without).
 * And in step with the writes, not with the time: then the expired never outgrow the live by much,
 * even if every request brings a new key. A large group pays more: with a bound, files of busy
 * servers would grow without one.
 */
function createSweep(): Sweep {
  let passed: Key = ''
  return (sql, writes, now, lived) => {
    if (writes === 0) return
    const last = sql.keyBeyond(passed, writes * SWEPT_PER_WRITE)
    sql.forget(passed, last, now, lived)
    passed = last ?? ''
  }
}

/*
 * How long a file has lived: real time during which its machine ran, counted on across processes and
 * restarts. Expired keys are forgotten only when the file has also lived as long as they were to be
 * kept. Then a clock that leaps ahead and returns has emptied nothing.
 *
 * Time during which the machine was off does not count: nobody can tell it from a leap of the clock.
 * What expired meanwhile is kept that much longer, which costs room and changes no answer.
 */

/** After a crash the file has lived at most this much longer than it knows; then it keeps for longer. */
const RECORD_EVERY = 60_000_000

/**
 * To be called within a transaction that writes. All processes of one machine count alike, because
 * the time since it was started is the same for all of them.
 */
export function livedTime(sql: Statements, record: FileState, uptime: Uptime): Span {
  const running = uptime()
  const passed = passedSince(record, running)
  const lived = span(record.lived + passed)
  if (passed >= RECORD_EVERY || isStartedAnew(record, running)) {
    sql.recordLived({ lived, uptime: running })
  }
  return lived
}

/**
 * A machine that was started anew has run for less time than was recorded, and at least for what it
 * says. If it has run for longer than was recorded and was started anew all the same, the difference
 * is less than what has passed. So this is never too much.
 */
function passedSince(record: FileState, running: Span): number {
  if (isStartedAnew(record, running)) return running
  return Math.max(0, running - record.uptime)
}

/**
 * The system tells its running time in hundredths of a second, and each process counts on from when
 * it asked. So one may be a little behind what another has just recorded, on a machine that ran on:
 * taken for a new start, all its running time would count again.
 */
const UPTIMES_DIFFER = 1_000_000

function isStartedAnew(record: FileState, running: Span): boolean {
  return running < record.uptime - UPTIMES_DIFFER
}

/** The system is asked this often, in microseconds: its answer is read from a file, in 50 µs. */
const ASK_EVERY = 1_000_000

/** How long the machine has run, asleep or awake. */
export const machineUptime: Uptime = createMachineUptime()

function createMachineUptime(): Uptime {
  let asked: number | undefined
  let answered = 0
  return () => {
    const running = processUptime()
    if (asked === undefined || running - asked >= ASK_EVERY) {
      const counted = asked === undefined ? 0 : answered + running - asked
      asked = running
      answered = Math.max(counted, Math.floor(systemUptime() * 1_000_000))
    }
    return span(answered + running - asked)
  }
}
