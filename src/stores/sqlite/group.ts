/** Calls of one moment: run one after another over one view, committed once, with one fsync. */
import type { Clock } from '../../core/time.ts'
import { type Overlay, overlay } from './overlay.ts'
import type { Statements } from './statements.ts'
import type { Sweep } from './sweep.ts'

/** What one commit carried. */
export interface CommittedGroup {
  readonly calls: number
  readonly writes: number
  readonly appends: number
}

export interface Call {
  /** Runs the step and plans over the group's view; answers how to tell the caller. */
  enter(over: Overlay): () => void
  reject(error: unknown): void
}

export interface GroupOutcome {
  /** One for each call, to be run only now: the group is on the disk. */
  readonly endings: readonly (() => void)[]
  /** Absent if nothing was to be written, and so nothing was synced. */
  readonly committed: CommittedGroup | undefined
}

/** Throws only if the database does; then nothing of the group was applied. */
export function runGroup(
  sql: Statements,
  calls: readonly Call[],
  clock: Clock,
  sweeping: Sweep,
): GroupOutcome {
  sql.begin()
  try {
    // Under the lock, so that on one clock no later group sees an earlier time.
    const now = clock()
    const over = overlay(sql, now)
    const endings = calls.map((call) => enter(call, over))
    const { writes, appends } = over.flush()
    if (writes + appends === 0) {
      sql.rollback()
      return { endings, committed: undefined }
    }
    sweeping.walk(sql, writes, now)
    sql.commit()
    return { endings, committed: { calls: calls.length, writes, appends } }
  } catch (cause) {
    rollBack(sql)
    throw cause
  }
}

/** What a step throws ends its own call; what the database throws ends the group. */
function enter(call: Call, over: Overlay): () => void {
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
    // The failure that brought us here is the one to tell.
  }
}
