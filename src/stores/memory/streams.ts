/** The append-only streams of the memory store. */
import type { Append, Entry } from '../../core/store.ts'

export interface Streams {
  append(append: Append): void
  page(stream: string, after: number, limit: number): Entry[]
  trim(stream: string, before: number): void
}

export function streams(): Streams {
  const kept = new Map<string, Entry[]>()
  // One count for all streams: a stream trimmed away whole still never sees a position again.
  let last = 0

  return {
    append: ({ stream, entry }) => {
      last += 1
      const entries = kept.get(stream)
      if (entries === undefined) kept.set(stream, [{ position: last, entry }])
      else entries.push({ position: last, entry })
    },
    page: (stream, after, limit) => {
      const entries = kept.get(stream) ?? []
      const start = firstAt(entries, after + 1)
      return entries.slice(start, start + limit)
    },
    trim: (stream, before) => {
      const entries = kept.get(stream) ?? []
      const rest = entries.slice(firstAt(entries, before))
      if (rest.length === 0) kept.delete(stream)
      else kept.set(stream, rest)
    },
  }
}

/** Where the first entry at or beyond a position is, by halving: followers read near the end. */
function firstAt(entries: readonly Entry[], position: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle]
    if (entry !== undefined && entry.position < position) low = middle + 1
    else high = middle
  }
  return low
}
