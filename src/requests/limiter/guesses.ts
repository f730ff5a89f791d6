/**
 * Which keys a call of late went on to, by the key it began with: where a bare operation id or place
 * leads is only told by what is kept under it. A guess for the next call and never a truth: a server
 * that did not see the first call pays one more round trip, and so does a wrong guess.
 */
import type { Key } from '../../core/store.ts'

/** A server that remembers so many calls needs a few megabytes at most. */
export const MAX_GUESSES = 1_024

/** A batch of more buckets is rare, and its keys would take more room than they save. */
export const MAX_GUESSED_KEYS = 8

export interface Guesses {
  note(key: Key, keys: readonly Key[]): void
  /** None costs no more than a wrong one. */
  of(key: Key): readonly Key[]
}

/** In two halves, the older of which goes at once: looking for the oldest key of all took longer than the rest. */
export const recentGuesses = (): Guesses => {
  let newer = new Map<Key, readonly Key[]>()
  let older = new Map<Key, readonly Key[]>()
  return {
    note: (key, keys) => {
      if (keys.length > MAX_GUESSED_KEYS) return
      if (newer.size >= MAX_GUESSES / 2) {
        older = newer
        newer = new Map()
      }
      newer.set(key, keys)
    },
    of: (key) => newer.get(key) ?? older.get(key) ?? [],
  }
}
