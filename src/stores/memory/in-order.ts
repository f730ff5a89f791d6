/**
 * Keys in byte order, a page at a time, without sorting them all first: the first page costs a few
 * looks at each key, every later one only as much as it holds. Sorting a million keys for each page
 * blocked the process for seconds.
 */
import type { Key } from '../../core/store.ts'

/** The next keys in order, at most so many; fewer only at the end. */
type NextKeys = (limit: number) => readonly Key[]

type Compare = (one: Key, other: Key) => number

/** A part this small is sorted whole. */
const SMALL = 64

/** Quicksort that goes no further than it is asked: what lies beyond the page stays as it is. */
export function inOrder(
  keys: Iterable<Key>,
  after: Key,
  compare?: Compare,
  chance: () => number = Math.random,
): NextKeys {
  const all = [...keys]
  const by = compare ?? orderOf(all, after)
  const left = after === '' ? all : all.filter((key) => by(key, after) > 0)
  // Where parts end whose keys all come before those of the next part; the nearest is the last.
  const ends = [left.length]
  let shown = 0
  let sorted = 0

  const sortNext = (): void => {
    const end = ends.at(-1) ?? left.length
    if (end - sorted > SMALL) {
      const middle = divide(left, sorted, end, by, chance())
      ends.push(middle + 1, middle)
      return
    }
    const part = left.slice(sorted, end).sort(by)
    for (const [at, key] of part.entries()) left[sorted + at] = key
    sorted = end
    ends.pop()
  }

  return (limit) => {
    const first = shown
    shown = Math.min(left.length, shown + limit)
    while (sorted < shown) sortNext()
    return left.slice(first, shown)
  }
}

/** Puts one key in its place, with the smaller before it and the larger after it; answers the place. */
function divide(keys: Key[], start: number, end: number, by: Compare, chance: number): number {
  // By chance: no order in which keys were written makes this slow.
  swap(keys, start + Math.floor(chance * (end - start)), end - 1)
  const pivot = keys[end - 1] ?? ''
  let place = start
  for (let at = start; at < end - 1; at++) {
    if (by(keys[at] ?? '', pivot) < 0) swap(keys, at, place++)
  }
  swap(keys, place, end - 1)
  return place
}

function swap(keys: Key[], one: number, other: number): void {
  const kept = keys[one] ?? ''
  keys[one] = keys[other] ?? ''
  keys[other] = kept
}

/** Only beyond the surrogates is the order of UTF-16 not that of bytes; without them it is fast. */
function orderOf(keys: readonly Key[], after: Key): Compare {
  const beyond = /[\ud800-\uffff]/
  return beyond.test(after) || keys.some((key) => beyond.test(key)) ? byBytes : byUnits
}

const byUnits: Compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0)

/** The order of UTF-8 bytes, without making them: that of code points, and surrogates are of the largest. */
function byBytes(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let at = 0; at < shorter; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return rank(a) - rank(b)
  }
  return one.length - other.length
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
