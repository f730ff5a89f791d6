/** Does jobs, several at once, and repeats those that failed after pauses that grow. */
import { systemTimers, type Timers } from './poller.ts'

export interface Delivery<Job> {
  push(job: Job): void
  /** Starts nothing more; resolves when what was under way has ended. */
  stop(): Promise<void>
}

/** As many at once as a store commits together. */
const CONCURRENCY = 64

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000

/** `attempt` rejects if the job is to be tried again. */
export const startDelivery = <Job>(
  attempt: (job: Job) => Promise<void>,
  timers: Timers = systemTimers,
): Delivery<Job> => {
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
