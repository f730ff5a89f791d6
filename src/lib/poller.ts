/** Repeats one call after a pause, one at a time, and goes on after failures; and tells silence from standing still. */
import { millis, type Span, toMillis } from '../core/time.ts'

export interface Poller {
  /** Resolves when no call is under way. Neither callback is called afterwards. */
  stop(): Promise<void>
}

interface PollerOptions<T> {
  readonly ask: () => Promise<T>
  /** From the end of one call to the start of the next, so that slow calls never pile up. */
  readonly every: Span
  readonly onAnswer: (answer: T) => void | Promise<void>
  /** Polling goes on. The last answer is not taken back: its user decides how old it may be. */
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

export interface Timers {
  /** Calls back once; the returned function cancels that. */
  after(delayMs: number, run: () => void): () => void
}

/** Real timers, which do not keep an idle process alive. */
export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

/** Asks at once, then after every pause. */
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

/** A process that stands still has no heartbeat: heartbeats measure how long it ran. */
const HEARTBEAT = millis(200)

/** A second of running without an answer: it counts as silent. */
const SILENT_HEARTBEATS = 5

/** Whether what is polled answers, in heartbeats of this process; and those who wait for its next answer. */
export function listenFor(timers: Timers) {
  const waiting = new Set<{ readonly after: number; readonly release: () => void }>()
  let questions = 0
  let beats = 0
  let answeredAt = 0
  let heardAt = 0
  let closed = false
  let cancel = () => {}

  const release = (answered: number): void => {
    for (const each of [...waiting]) {
      if (each.after >= answered) continue
      waiting.delete(each)
      each.release()
    }
  }
  const isSilent = (): boolean => beats - Math.max(answeredAt, heardAt) >= SILENT_HEARTBEATS
  const beat = (): void => {
    beats += 1
    if (isSilent()) release(Number.POSITIVE_INFINITY)
    cancel = timers.after(toMillis(HEARTBEAT), beat)
  }
  cancel = timers.after(toMillis(HEARTBEAT), beat)

  return {
    isSilent,
    ask: (): number => {
      questions += 1
      return questions
    },
    /** A part of an answer has come: the whole may take longer than a second. */
    heard: (): void => {
      heardAt = beats
    },
    answered: (question: number): void => {
      answeredAt = beats
      release(question)
    },
    /** The parts that came were no answer: whoever fails again and again must fall silent. */
    failed: (): void => {
      heardAt = answeredAt
    },
    /** To a question asked from now on; or silence. */
    nextAnswer: (): Promise<void> => {
      if (closed || isSilent()) return Promise.resolve()
      const after = questions
      return new Promise((resolve) => waiting.add({ after, release: resolve }))
    },
    close: (): void => {
      closed = true
      cancel()
      release(Number.POSITIVE_INFINITY)
    },
  }
}
