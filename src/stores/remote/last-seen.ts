/**
 * What a server was last seen to hold, and what time it is there. The values are a guess, never a truth: every commit
 * compares them. A key that
 * others write too is doubted: it is looked at first, which is cheaper than to lose the comparison.
 */
import type { Key, Value } from '../../core/store.ts'
import { type Instant, instant, type Uptime } from '../../core/time.ts'

export interface LastSeen {
  /** Undefined: nothing, as far as is known. */
  value(key: Key): Value | undefined
  /** In an answer. */
  saw(key: Key, value: Value | undefined): void
  /** By a commit of ours. */
  wrote(key: Key, value: Value | undefined): void
  /** A comparison was lost over this key. */
  doubt(key: Key): void
  isDoubted(key: Key): boolean
  /** Not known what happened to them: nothing is taken for granted. */
  forget(keys: Iterable<Key>): void
}

/** The one that was seen first is dropped. */
const MAX_SEEN = 100_000

/** Characters of keys and values: most take 200, and some values many thousand. */
const MAX_SEEN_LENGTH = 20_000_000

/** A doubted key is trusted again when it was found as expected so often in a row. */
const TRUST_AFTER = 4

export const lastSeen = (size = MAX_SEEN, maxLength = MAX_SEEN_LENGTH): LastSeen => {
  const values = new Map<Key, Value>()
  const doubts = new Map<Key, number>()
  let length = 0
  const forget = (key: Key): void => {
    const value = values.get(key)
    if (value === undefined) return
    length -= key.length + value.length
    values.delete(key)
  }
  const wrote = (key: Key, value: Value | undefined): void => {
    const was = values.get(key)
    if (value === undefined) {
      forget(key)
      return
    }
    values.set(key, value)
    length += was === undefined ? key.length + value.length : value.length - was.length
    for (const first of values.keys()) {
      if (values.size <= size && length <= maxLength) break
      forget(first)
    }
  }
  return {
    value: (key) => values.get(key),
    saw: (key, value) => {
      const left = doubts.get(key)
      if (left !== undefined) {
        if (values.get(key) !== value) doubts.set(key, TRUST_AFTER)
        else if (left === 1) doubts.delete(key)
        else doubts.set(key, left - 1)
      }
      wrote(key, value)
    },
    wrote,
    doubt: (key) => {
      doubts.set(key, TRUST_AFTER)
      const [first] = doubts.size > size ? doubts.keys() : []
      if (first !== undefined) doubts.delete(first)
    },
    isDoubted: (key) => doubts.has(key),
    forget: (keys) => {
      for (const key of keys) forget(key)
    },
  }
}

/*
 * The time of a server far away, told between its answers: never ahead of it, and never older than
 * anything that it has shown.
 *
 * An answer carries the server's time and arrives a little later. Counted on from its arrival, that
 * time lags by the way it took, so a decision made now is not dated ahead of the server; and it is
 * not older than the answer, so not older than any state in it.
 */

export interface ServerTime {
  /** Undefined before the first answer. */
  now(): Instant | undefined
  /** The server's time, from an answer that has just arrived. It may have stepped back. */
  heard(now: Instant): void
}

/**
 * Two clocks never run alike: 500 parts in a million is as much as NTP corrects, and we stay behind
 * by twice that. After 15 minutes without an answer the time lags by a second.
 */
const LAG = 0.999

export const serverTime = (uptime: Uptime): ServerTime => {
  let told: { readonly now: Instant; readonly at: number } | undefined
  return {
    now: () => told && instant(told.now + Math.floor((uptime() - told.at) * LAG)),
    heard: (now) => {
      told = { now, at: uptime() }
    },
  }
}
