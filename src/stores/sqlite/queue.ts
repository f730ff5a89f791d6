/**
 * Calls waiting for the file. Those of one moment leave together; while another process holds the
 * file they all wait, by timer and never by blocking, each as long as its patience lasts.
 */
import { type Span, span } from '../../core/time.ts'
import { uptime } from '../../lib/clock.ts'
import { isBusy, storeContended } from './errors.ts'

/** Calls that may share a commit: beyond it a group holds up the event loop more than it saves. */
const MAX_GROUP = 512

/** Calls that may wait: beyond it the last would run out of patience anyway. */
const MAX_WAITING = 65_536

/** The longest pause between two tries for a busy file, in milliseconds; the shortest is one. */
const MAX_PAUSE_MS = 16

interface CallQueue<Call> {
  /** Joins the group that leaves after this turn of the event loop. */
  push(call: Call): void
  /** Resolves once nothing is waiting. */
  drained(): Promise<void>
}

interface CallQueueOptions<Call> {
  /** Names the queue in errors. */
  readonly path: string
  readonly patience: Span
  /** Serves a group and settles each of its calls. Throws, before settling any, if it must wait. */
  serve(group: readonly Call[]): void
  fail(call: Call, error: unknown): void
}

interface Waiting<Call> {
  readonly call: Call
  readonly since: Span
}

export function callQueue<Call>(options: CallQueueOptions<Call>): CallQueue<Call> {
  const { path, patience, serve, fail } = options
  let waiting: Waiting<Call>[] = []
  let underWay = false
  let tries = 0
  const onEmpty: (() => void)[] = []

  const giveUp = (cause: unknown): void => {
    const deadline = span(uptime() - patience)
    const late = waiting.filter(({ since }) => since <= deadline)
    waiting = waiting.filter(({ since }) => since > deadline)
    const error = storeContended(path, 'another process writing all the while', cause)
    for (const { call } of late) fail(call, error)
  }

  const serveNext = (): void => {
    const group = waiting.slice(0, MAX_GROUP).map(({ call }) => call)
    try {
      serve(group)
      waiting = waiting.slice(group.length)
      tries = 0
    } catch (error) {
      if (isBusy(error)) {
        tries += 1
        giveUp(error)
      } else {
        waiting = waiting.slice(group.length)
        for (const call of group) fail(call, error)
      }
    }
    schedule()
  }

  const schedule = (): void => {
    underWay = waiting.length > 0
    if (!underWay) for (const resolve of onEmpty.splice(0)) resolve()
    else if (tries === 0) setImmediate(serveNext)
    else setTimeout(serveNext, pause(tries))
  }

  return {
    push: (call) => {
      if (waiting.length >= MAX_WAITING) {
        fail(call, storeContended(path, `${MAX_WAITING} calls already waiting`))
        return
      }
      waiting.push({ call, since: uptime() })
      if (!underWay) schedule()
    },
    drained: () => (underWay ? new Promise((resolve) => onEmpty.push(resolve)) : Promise.resolve()),
  }
}

/** Random, so that processes which collided once do not meet again; growing, so that they pass. */
const pause = (tries: number): number => 1 + Math.random() * Math.min(2 ** tries, MAX_PAUSE_MS)
