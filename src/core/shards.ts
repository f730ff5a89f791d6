/**
 * Which answers are remembered, and which must go: for each scope the memory is cut into shards, and
 * a shard is one small key that lists what it holds, oldest first. So no key is written by all calls
 * of a scope, and none must be read to find out what a new answer pushes out.
 *
 * A shard forgets its own oldest. Ids fall into shards by chance: a scope whose shards are not alike
 * forgets some answers before it holds as many as it may.
 */
import { assert } from './errors.ts'
import type { Key, Value, Write } from './store.ts'
import { type Instant, instant } from './time.ts'

/** The list is written with every answer: 64 entries are some 2.5 kB. */
export const MAX_SHARD_ENTRIES = 64

/** What the answers of one shard may come to. Its newest stays, however large it is alone. */
export const MAX_SHARD_LENGTH = 65_536

export interface Shard {
  readonly key: Key
  /** How many answers it holds at most. */
  readonly most: number
  /** What the new answer is called in the list: a hash, without spaces or commas. */
  readonly entry: string
  /** Where the answer of an entry is kept. In the partition of the shard. */
  keyOf(entry: string): Key
}

export interface ShardPlace {
  /** Which shard of its scope. */
  readonly number: number
  readonly most: number
}

/** As few shards as hold `perScope`: a small memory is one shard, and forgets exactly its oldest. */
export const shardFor = (hash: string, perScope: number): ShardPlace => {
  const count = Math.max(1, Math.ceil(perScope / MAX_SHARD_ENTRIES))
  return { number: spread(hash) % count, most: Math.ceil(perScope / count) }
}

export interface Entering {
  readonly write: Write
  /** The entries that had to go. */
  readonly pushedOut: readonly string[]
}

/** Of the new answer. */
export interface ShardFact {
  /** Characters, of the answer and of its key. */
  readonly length: number
  readonly until: Instant
}

/**
 * Puts a new answer at the end of the list. What has expired leaves it when it is the oldest, and needs no
 * deleting. Only the oldest are read: taking the whole list apart for each answer took five times as long.
 */
export const enterShard = (
  shard: Shard,
  value: Value | undefined,
  { length, until }: ShardFact,
  now: Instant,
): Entering => {
  const { key, most, entry } = shard
  const list = without(readList(value), entry)
  const pushedOut: string[] = []
  while (list.count > 0) {
    const oldest = firstOf(list.entries)
    const isFull = list.count >= Math.max(1, most) || list.total + length > MAX_SHARD_LENGTH
    if (oldest.until > now && !isFull) break
    if (oldest.until > now) pushedOut.push(oldest.entry)
    list.count -= 1
    list.total -= oldest.length
    list.entries = list.entries.slice(oldest.text.length + 1)
  }
  list.count += 1
  list.total += length
  list.latest = Math.max(list.latest, until)
  const text = `${entry},${length},${until}`
  list.entries = list.entries === '' ? text : `${list.entries} ${text}`
  return { write: writeList(key, list), pushedOut }
}

/** Takes an answer out of the list. Undefined: it is not in it. */
export const leaveShard = (
  { key, entry }: Pick<Shard, 'key' | 'entry'>,
  value: Value | undefined,
): Write | undefined => {
  const list = readList(value)
  const { count } = list
  return without(list, entry).count === count ? undefined : writeList(key, list)
}

/** As it is kept: three numbers, then the entries, oldest first, each a name, a length and an end. */
interface ShardList {
  count: number
  /** Of the lengths. */
  total: number
  /** The last of the ends, or later. */
  latest: number
  entries: string
}

function readList(value: Value | undefined): ShardList {
  if (value === undefined) return { count: 0, total: 0, latest: 0, entries: '' }
  const first = value.indexOf(' ')
  const second = value.indexOf(' ', first + 1)
  const third = value.indexOf(' ', second + 1)
  assert(first > 0 && second > 0 && third > 0, 'a shard has three numbers and its entries')
  return {
    count: Number(value.slice(0, first)),
    total: Number(value.slice(first + 1, second)),
    latest: Number(value.slice(second + 1, third)),
    entries: value.slice(third + 1),
  }
}

function writeList(key: Key, { count, total, latest, entries }: ShardList): Write {
  if (count === 0) return { key }
  const value = `${count} ${total} ${latest} ${entries}`
  return { key, value, expiresAt: instant(latest) }
}

/** An answer that is given anew is the newest again. */
function without(list: ShardList, entry: string): ShardList {
  const at = placeOf(list.entries, `${entry},`)
  if (at < 0) return list
  const { text, length } = firstOf(list.entries.slice(at))
  list.count -= 1
  list.total -= length
  const [before, after] = [list.entries.slice(0, at), list.entries.slice(at + text.length + 1)]
  list.entries = after === '' ? before.trimEnd() : before + after
  return list
}

/** Where an entry begins; below 0: nowhere. */
function placeOf(entries: string, start: string): number {
  if (entries.startsWith(start)) return 0
  const before = entries.indexOf(` ${start}`)
  return before < 0 ? before : before + 1
}

function firstOf(entries: string) {
  const end = entries.indexOf(' ')
  const text = end < 0 ? entries : entries.slice(0, end)
  const [entry, length, until] = text.split(',')
  assert(entry !== undefined && until !== undefined, 'an entry has a name, a length and an end')
  return { text, entry, length: Number(length), until: Number(until) }
}

/** The first of a hash as a number: base64url has six bits a character, and five fit any bitwise sum. */
function spread(hash: string): number {
  let number = 0
  for (const character of hash.slice(0, 5)) {
    number = number * 64 + Math.max(0, ALPHABET.indexOf(character))
  }
  return number
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
