/** Runs work on one key one at a time, in the order of the calls, and on different keys side by side. */

interface OneAtATime {
  /** Undefined if too many wait already. Work that fails does not stop the work behind it. */
  run<R>(key: string, work: () => Promise<R>): Promise<R> | undefined
}

/** How many may run or wait: each keeps in memory whatever its work refers to. */
interface WaitingBounds {
  readonly perKey: number
  readonly inAll: number
}

export const oneAtATime = ({ perKey, inAll }: WaitingBounds): OneAtATime => {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>()
  let count = 0

  const leave = (key: string): void => {
    count -= 1
    const line = lines.get(key)
    if (line === undefined) return
    line.length -= 1
    if (line.length === 0) lines.delete(key)
  }

  return {
    run: (key, work) => {
      const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 }
      if (line.length >= perKey || count >= inAll) return undefined
      line.length += 1
      count += 1
      lines.set(key, line)
      const result = line.last.then(work).finally(() => leave(key))
      line.last = result.catch(() => undefined)
      return result
    },
  }
}

/**
 * Runs `work` when it is called, one run after another. A call while a run waits to begin shares that
 * run, which has seen nothing yet: so at most one runs and one waits, however often it is called.
 */
export const oneRunAhead = <R>(work: () => Promise<R>): (() => Promise<R>) => {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<R> | undefined
  return () => {
    if (waiting !== undefined) return waiting
    const turn = last.then(() => {
      waiting = undefined
      return work()
    })
    waiting = turn
    last = turn.catch(() => undefined)
    return turn
  }
}
