/** What a queue has accepted and not yet delivered, in memory and, before anyone is told, on disk. */
import type { Instant } from '../core/time.ts'
import { readQueueLog, startQueueLog } from './queue-log.ts'
import { queueMistake } from './queue-mistake.ts'
import type { QueueRecord } from './queue-record.ts'

export interface Pending {
  readonly at: Instant
  readonly item: string
}

export interface QueueShelf {
  /** By number, oldest first. */
  readonly pending: ReadonlyMap<number, Pending>
  /** Lines that could not be read when the file was opened. */
  readonly damaged: number
  /** Resolves with the item's number when it is on disk. */
  put(entry: Pending): Promise<number>
  /** The note that an item is done is not waited for: losing it costs one repetition. */
  strike(number: number): void
  close(): Promise<void>
}

/** The file is rewritten after this many deliveries, if most of its lines are done with. */
const REWRITE_AFTER = 10_000

export const openQueueShelf = async (path: string, maxPending: number): Promise<QueueShelf> => {
  const { records, damaged, pending, log } = await openLog(path)
  let newest = records.reduce((most, record) => Math.max(most, record.number), 0)
  /** Items on their way to the disk. */
  let coming = 0
  let struck = 0
  return {
    pending,
    damaged,
    put: async (entry) => {
      if (pending.size + coming >= maxPending) {
        throw queueMistake('QUEUE_FULL', `must hold at most ${maxPending} items`, 'no room')
      }
      newest += 1
      const number = newest
      coming += 1
      try {
        await log.append({ kind: 'added', number, ...entry })
      } catch (cause) {
        throw queueMistake('QUEUE_UNAVAILABLE', 'must be written to disk', String(cause), cause)
      } finally {
        coming -= 1
      }
      pending.set(number, entry)
      return number
    },
    strike: (number) => {
      pending.delete(number)
      struck += 1
      log.append({ kind: 'done', number }).catch(() => {})
      if (struck < REWRITE_AFTER || pending.size > struck) return
      struck = 0
      // A failure leaves the long file as it was, which is only long.
      log.rewrite(() => recordsOf(pending)).catch(() => {})
    },
    close: () => log.close(),
  }
}

async function openLog(path: string) {
  try {
    const { records, damaged } = await readQueueLog(path)
    const pending = pendingOf(records)
    return { records, damaged, pending, log: await startQueueLog(path, recordsOf(pending)) }
  } catch (cause) {
    throw queueMistake('QUEUE_UNAVAILABLE', `must open ${path}`, String(cause), cause)
  }
}

function pendingOf(records: readonly QueueRecord[]): Map<number, Pending> {
  const pending = new Map<number, Pending>()
  for (const record of records) {
    if (record.kind === 'added') pending.set(record.number, { at: record.at, item: record.item })
  }
  for (const record of records) if (record.kind === 'done') pending.delete(record.number)
  return pending
}

function* recordsOf(pending: ReadonlyMap<number, Pending>): Generator<QueueRecord> {
  for (const [number, entry] of pending) yield { kind: 'added', number, ...entry }
}
