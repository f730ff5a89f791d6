/**
 * A queue on local disk between those who must not wait and something that may be slow or away.
 *
 * Each item is delivered at least once, in no order; whoever receives it makes that exactly once.
 * One process at a time owns a file, as long as both are on one machine.
 */
import { appendFile } from 'node:fs/promises'
import { assert } from '../core/errors.ts'
import type { Clock, Instant } from '../core/time.ts'
import { startDelivery } from './delivery.ts'
import type { Timers } from './poller.ts'
import { takeQueueLock } from './queue-lock.ts'
import { queueMistake } from './queue-mistake.ts'
import { openQueueShelf, type Pending } from './queue-shelf.ts'
import { toTimestamp } from './timestamp.ts'

export interface DiskQueue {
  /** Resolves when the item is on disk: from then on no crash loses it. */
  add(item: string): Promise<void>
  status(): QueueStatus
  /** Resolves when nothing is left to deliver. */
  drained(): Promise<void>
  /** Stops delivering. What is left stays on disk for the next process. */
  close(): Promise<void>
}

export interface QueueStatus {
  readonly pending: number
  readonly oldest: Instant | undefined
  /** Since this process opened it. */
  readonly delivered: number
  readonly refused: number
  /** Lines of the file that could not be read when it was opened. */
  readonly damaged: number
}

export interface DiskQueueOptions {
  readonly path: string
  readonly deliver: (item: string) => Promise<unknown>
  /** An error that no repetition cures: the item goes to `PATH.refused`, for a person to look at. */
  readonly isFinal: (error: unknown) => boolean
  readonly clock: Clock
  /** Told of every delivery that failed and is tried again. Must not throw. */
  readonly onFault?: (error: unknown, item: string) => void
  /** Told of every item that was put aside, and into which file. Must not throw. */
  readonly onRefused?: (error: unknown, file: string) => void
  readonly timers?: Timers
  readonly maxPending?: number
}

/** A day of a store that is away, at one expense a second, and 30 MB of memory. */
export const MAX_PENDING = 100_000

/** An expense with all its notes takes two kilobytes at most. */
export const MAX_ITEM_LENGTH = 16 * 1024

export const openDiskQueue = async (options: DiskQueueOptions): Promise<DiskQueue> => {
  const { path, deliver, clock, timers, maxPending = MAX_PENDING } = options
  const lock = await takeQueueLock(path)
  const shelf = await openQueueShelf(path, maxPending).catch(async (error: unknown) => {
    await lock.release()
    throw error
  })
  const delivery = startDelivery(attempt, timers)
  const counts = { delivered: 0, refused: 0 }
  let whenDrained: (() => void)[] = []
  let closed = false

  async function attempt(number: number): Promise<void> {
    const entry = shelf.pending.get(number)
    assert(entry !== undefined, 'an item is delivered once')
    try {
      await deliver(entry.item)
      counts.delivered += 1
    } catch (error) {
      await giveUp(options, entry, error)
      counts.refused += 1
    }
    shelf.strike(number)
    if (shelf.pending.size > 0) return
    for (const resolve of whenDrained) resolve()
    whenDrained = []
  }

  for (const number of shelf.pending.keys()) delivery.push(number)
  return {
    add: async (item) => {
      if (closed) throw queueMistake('QUEUE_CLOSED', 'must be open', 'a closed one')
      if (item.length > MAX_ITEM_LENGTH) {
        const rule = `takes items of at most ${MAX_ITEM_LENGTH} characters`
        throw queueMistake('QUEUE_ITEM_TOO_LARGE', rule, `${item.length}`)
      }
      delivery.push(await shelf.put({ at: clock(), item }))
    },
    status: () => {
      const { pending, damaged } = shelf
      const [oldest] = pending.values()
      return { pending: pending.size, oldest: oldest?.at, ...counts, damaged }
    },
    drained: async () => {
      if (shelf.pending.size === 0) return
      await new Promise<void>((resolve) => whenDrained.push(resolve))
    },
    close: async () => {
      if (closed) return
      closed = true
      await delivery.stop()
      await shelf.close().finally(() => lock.release())
    },
  }
}

/** Puts the item aside. Rejects if it is to be tried again, as it is while not even that can be written. */
async function giveUp(options: DiskQueueOptions, entry: Pending, error: unknown): Promise<void> {
  const { path, isFinal, onFault, onRefused } = options
  const file = `${path}.refused`
  try {
    if (!isFinal(error)) throw error
    await setAside(file, entry, error)
  } catch (fault) {
    onFault?.(fault, entry.item)
    throw fault
  }
  onRefused?.(error, file)
}

async function setAside(file: string, { at, item }: Pending, error: unknown): Promise<void> {
  const line = `${JSON.stringify({ at: toTimestamp(at), item, error: String(error) })}\n`
  await appendFile(file, line, { mode: 0o600, flush: true })
}
