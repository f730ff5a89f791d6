/**
 * A queue on local disk between callers that must not wait and a receiver that may be slow or down.
 *
 * Each item is delivered at least once; the receiver makes that exactly once. Items of one lane are
 * delivered in the order in which they were added, others in none. One process at a time owns a file,
 * as long as both are on one machine.
 */
import { appendFile } from 'node:fs/promises'
import { assert } from '../../core/errors.ts'
import type { Clock, Instant } from '../../core/time.ts'
import { toTimestamp } from '../moments.ts'
import { systemTimers, type Timers } from '../poller.ts'
import { takeQueueLock } from './queue-lock.ts'
import { openPendingItems, type PendingItem, queueMistake } from './queue-log.ts'

export interface DiskQueue {
  /** Resolves when the item is on disk: from then on no crash loses it. */
  add(item: string): Promise<void>
  status(): QueueStatus
  /** Whether an item of this lane is still to be delivered. */
  waits(lane: string): boolean
  /** Resolves when nothing is left to deliver. */
  drained(): Promise<void>
  /** Stops delivering. What is left stays on disk for the next process. */
  close(): Promise<void>
}

interface QueueStatus {
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
  /** Items with the same lane keep their order; without one an item has none. */
  readonly laneOf?: (item: string) => string | undefined
  /** An error that no repetition cures: the item goes to `PATH.refused`, for a person to look at. */
  readonly isFinal: (error: unknown) => boolean
  readonly clock: Clock
  /** Called for every delivery that failed and is tried again. Must not throw. */
  readonly onFault?: (error: unknown, item: string) => void
  /** Called for every item that was put aside, with its file. Must not throw. */
  readonly onRefused?: (error: unknown, file: string) => void
  readonly timers?: Timers
  readonly maxPending?: number
}

/** A day of a store that is down, at one expense a second, and 30 MB of memory. */
const MAX_PENDING = 100_000

/** An expense with all its notes takes two kilobytes at most. */
export const MAX_ITEM_LENGTH = 16 * 1024

export const openDiskQueue = async (options: DiskQueueOptions): Promise<DiskQueue> => {
  const { path, deliver, clock, timers, maxPending = MAX_PENDING } = options
  const { laneOf = () => undefined } = options
  const lock = await takeQueueLock(path)
  const items = await openPendingItems(path, maxPending).catch(async (error: unknown) => {
    await lock.release()
    throw error
  })
  const delivery = startDelivery(attempt, timers)
  const lanes = deliveryLanes(delivery.push)
  const counts = { delivered: 0, refused: 0 }
  let whenDrained: (() => void)[] = []
  let closed = false

  async function attempt(number: number): Promise<void> {
    const entry = items.pending.get(number)
    assert(entry !== undefined, 'an item is delivered once')
    try {
      await deliver(entry.item)
      counts.delivered += 1
    } catch (error) {
      await giveUp(options, entry, error)
      counts.refused += 1
    }
    items.remove(number)
    lanes.done(laneOf(entry.item))
    if (items.pending.size > 0) return
    for (const resolve of whenDrained) resolve()
    whenDrained = []
  }

  for (const [number, { item }] of items.pending) lanes.push(number, laneOf(item))
  return {
    add: async (item) => {
      if (closed) throw queueMistake('QUEUE_CLOSED', 'must be open', 'a closed one')
      if (item.length > MAX_ITEM_LENGTH) {
        const rule = `takes items of at most ${MAX_ITEM_LENGTH} characters`
        throw queueMistake('QUEUE_ITEM_TOO_LARGE', rule, `${item.length}`)
      }
      lanes.push(await items.add({ at: clock(), item }), laneOf(item))
    },
    status: () => {
      const { pending, damaged } = items
      const [oldest] = pending.values()
      return { pending: pending.size, oldest: oldest?.at, ...counts, damaged }
    },
    waits: lanes.waits,
    drained: async () => {
      if (items.pending.size === 0) return
      await new Promise<void>((resolve) => whenDrained.push(resolve))
    },
    close: async () => {
      if (closed) return
      closed = true
      await delivery.stop()
      await items.close().finally(() => lock.release())
    },
  }
}

/** Puts the item aside. Rejects if it is to be tried again, as it is while not even that can be written. */
async function giveUp(
  options: DiskQueueOptions,
  entry: PendingItem,
  error: unknown,
): Promise<void> {
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

async function setAside(file: string, { at, item }: PendingItem, error: unknown): Promise<void> {
  const line = `${JSON.stringify({ at: toTimestamp(at), item, error: String(error) })}\n`
  await appendFile(file, line, { mode: 0o600, flush: true })
}

/** Lets one job of a lane through at a time; the next one when it is done. */
function deliveryLanes<Job>(start: (job: Job) => void) {
  const behind = new Map<string, Job[]>()
  return {
    push: (job: Job, lane: string | undefined): void => {
      const waiting = lane === undefined ? undefined : behind.get(lane)
      if (waiting !== undefined) {
        waiting.push(job)
        return
      }
      if (lane !== undefined) behind.set(lane, [])
      start(job)
    },
    done: (lane: string | undefined): void => {
      if (lane === undefined) return
      const next = behind.get(lane)?.shift()
      if (next === undefined) behind.delete(lane)
      else start(next)
    },
    waits: (lane: string): boolean => behind.has(lane),
  }
}

interface Delivery<Job> {
  push(job: Job): void
  /** Starts nothing more; resolves when what was under way has ended. */
  stop(): Promise<void>
}

/** As many at once as a store commits together. */
const CONCURRENCY = 64

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000

/** Does jobs, several at once. One whose `attempt` rejects is tried again, after pauses that grow. */
function startDelivery<Job>(
  attempt: (job: Job) => Promise<void>,
  timers: Timers = systemTimers,
): Delivery<Job> {
  const ready: Job[] = []
  const underWay = new Set<Promise<void>>()
  let pauseMs = 0
  let endPause: (() => void) | undefined
  let stopped = false

  function pump(): void {
    while (!stopped && endPause === undefined && underWay.size < CONCURRENCY) {
      const job = ready.shift()
      if (job === undefined) return
      const work: Promise<void> = run(job).then(() => {
        underWay.delete(work)
        pump()
      })
      underWay.add(work)
    }
  }

  async function run(job: Job): Promise<void> {
    try {
      await attempt(job)
      pauseMs = 0
    } catch {
      ready.push(job)
      pause()
    }
  }

  /** All wait: if one job failed for a reason that passes, the next would too. */
  function pause(): void {
    if (endPause !== undefined || stopped) return
    pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2))
    endPause = timers.after(pauseMs, () => {
      endPause = undefined
      pump()
    })
  }

  return {
    push: (job) => {
      ready.push(job)
      pump()
    },
    stop: async () => {
      stopped = true
      endPause?.()
      await Promise.all(underWay)
    },
  }
}
