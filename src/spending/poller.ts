/** Asks for something again and again, one question at a time, and never gives up. */
import { type Span, toMillis } from '../core/time.ts'

export interface Poller {
  /** Resolves when no question is under way. Nothing is told afterwards. */
  stop(): Promise<void>
}

export interface PollerOptions<T> {
  readonly ask: () => Promise<T>
  /** From the end of one question to the next; so a slow answer never piles up questions. */
  readonly every: Span
  readonly onAnswer: (answer: T) => void | Promise<void>
  /** The last answer stays what it is: whoever uses it judges its age. */
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

export interface Timers {
  /** Calls back once; the returned function calls it off. */
  after(delayMs: number, run: () => void): () => void
}

/** Do not keep a process alive that has nothing else to do. */
export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

/** Asks at once, then `every` so often. */
export const startPoller = <T>(options: PollerOptions<T>): Poller => {
  const { ask, every, onAnswer, onFault, timers = systemTimers } = options
  let stopped = false
  let cancel = () => {}
  let round: Promise<void> = turn()

  async function turn(): Promise<void> {
    try {
      const found = await ask()
      if (!stopped) await onAnswer(found)
    } catch (error) {
      if (!stopped) onFault(error)
    }
    if (stopped) return
    cancel = timers.after(toMillis(every), () => {
      round = turn()
    })
  }

  return {
    stop: async () => {
      stopped = true
      cancel()
      await round
    },
  }
}
