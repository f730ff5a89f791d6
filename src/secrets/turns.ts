/** One at a time for each key: evaluations that could not all be charged are not even begun. */

export interface Turns {
  /** Undefined if too many wait already. */
  take<R>(key: string, work: () => Promise<R>): Promise<R> | undefined
}

/** For one domain, whose owner makes one attempt at a time; whoever sends more gains nothing. */
export const MAX_WAITING = 256

/** In all: each waiting request keeps its body alive. */
export const MAX_WAITING_IN_ALL = 8_192

export const createTurns = (): Turns => {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>()
  let inAll = 0

  const leave = (key: string): void => {
    inAll -= 1
    const line = lines.get(key)
    if (line === undefined) return
    line.length -= 1
    if (line.length === 0) lines.delete(key)
  }

  return {
    take: (key, work) => {
      const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 }
      if (line.length >= MAX_WAITING || inAll >= MAX_WAITING_IN_ALL) return undefined
      line.length += 1
      inAll += 1
      lines.set(key, line)
      const mine = line.last.then(work).finally(() => leave(key))
      line.last = mine.catch(() => undefined)
      return mine
    },
  }
}
