/** Trimming, in bites: forgetting a long stream must not hold up the calls between. */
import type { Errands } from './errands.ts'

/** Entries forgotten in one go. */
const BITE = 1_000

export interface Trims {
  trim(stream: string, before: number): Promise<void>
  drained(): Promise<void>
}

export function trims(errands: Errands): Trims {
  const underWay = new Set<Promise<void>>()

  const trimAll = async (stream: string, before: number): Promise<void> => {
    let forgotten = BITE
    while (forgotten === BITE) {
      forgotten = await errands.run((sql) => sql.trim(stream, before, BITE))
    }
  }

  return {
    trim: (stream, before) => {
      const trimmed = trimAll(stream, before).finally(() => underWay.delete(trimmed))
      underWay.add(trimmed)
      return trimmed
    },
    drained: async () => {
      await Promise.allSettled(underWay)
    },
  }
}
