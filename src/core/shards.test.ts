import { describe, expect, test } from 'vitest'
import { enterShard, leaveShard, MAX_SHARD_ENTRIES, MAX_SHARD_LENGTH, shardFor } from './shards.ts'
import type { Value } from './store.ts'
import { instant } from './time.ts'

const NOW = instant(1_000)
const END = instant(9_000)

/** One shard, and what is in it. */
const shard = (most = 3) => {
  let list: Value | undefined
  const of = (entry: string) => ({ key: 'shard', most, entry, keyOf: (one: string) => one })
  return {
    enter: (entry: string, length = 10, until = END, now = NOW) => {
      const { write, pushedOut } = enterShard(of(entry), list, { length, until }, now)
      list = write.value
      return pushedOut
    },
    leave: (entry: string) => {
      const write = leaveShard(of(entry), list)
      if (write !== undefined) list = write.value
      return write !== undefined
    },
    holds: () => (list?.split(' ').slice(3) ?? []).map((text) => text.split(',')[0]),
    list: () => list,
  }
}

describe('a shard', () => {
  test('holds so many answers, and a new one pushes out the oldest', () => {
    const { enter, holds } = shard(3)
    for (const entry of ['a', 'b', 'c']) expect(enter(entry)).toEqual([])
    expect(enter('d')).toEqual(['a'])
    expect(holds()).toEqual(['b', 'c', 'd'])
  })

  test('holds so many characters of answers, and at least the newest', () => {
    const { enter, holds } = shard(64)
    const third = Math.ceil(MAX_SHARD_LENGTH / 3)
    for (const entry of ['a', 'b']) enter(entry, third)
    expect(enter('c', third)).toEqual(['a'])
    expect(enter('d', 4 * MAX_SHARD_LENGTH)).toEqual(['b', 'c'])
    expect(holds()).toEqual(['d'])
    expect(enter('e')).toEqual(['d'])
  })

  test('drops what has expired with the next answer, and deletes nothing for it', () => {
    const { enter, holds } = shard(3)
    enter('a', 10, instant(2_000))
    enter('b')
    expect(enter('c', 10, END, instant(2_000))).toEqual([])
    expect(holds()).toEqual(['b', 'c'])
  })

  test('an answer that is given anew is the newest again', () => {
    const { enter, holds } = shard(2)
    for (const entry of ['a', 'b', 'a']) enter(entry)
    expect(enter('c')).toEqual(['b'])
    expect(holds()).toEqual(['a', 'c'])
    expect(enter('c')).toEqual([])
    expect(holds()).toEqual(['a', 'c'])
  })

  test('may itself be forgotten when its last answer may', () => {
    const first = { key: 'shard', most: 2, entry: 'a', keyOf: (one: string) => one }
    const { write } = enterShard(
      first,
      '1 10 9000 b,10,9000',
      { length: 10, until: instant(5_000) },
      NOW,
    )
    expect(write).toEqual({
      key: 'shard',
      value: '2 20 9000 b,10,9000 a,10,5000',
      expiresAt: 9_000,
    })
  })

  test('lets go of an answer that is taken back, and is gone with its last', () => {
    const { enter, leave, holds, list } = shard()
    for (const entry of ['a', 'b']) enter(entry)
    expect(leave('a')).toBe(true)
    expect(leave('a')).toBe(false)
    expect(holds()).toEqual(['b'])
    leave('b')
    expect(list()).toBeUndefined()
  })

  test('that was not written here is a bug to stop at', () => {
    const own = { key: 'shard', most: 2, entry: 'a', keyOf: (one: string) => one }
    for (const garbage of ['garbage', '1 10 9000 garbage']) {
      const enter = () => enterShard(own, garbage, { length: MAX_SHARD_LENGTH, until: END }, NOW)
      expect(enter).toThrow('assertion')
    }
  })
})

describe('the shards of a scope', () => {
  test.each([1, 2, 63, 64])('a memory of %i is one shard', (perScope) => {
    expect(shardFor('AAAA', perScope)).toEqual({ number: 0, most: perScope })
    expect(shardFor('_-9z', perScope)).toEqual({ number: 0, most: perScope })
  })

  test('a larger one is cut into as few as hold it, and hashes spread over all of them', () => {
    const met = new Map<number, number>()
    for (let i = 0; i < 20_000; i++) {
      const hash = btoa(String.fromCharCode(i >> 8, i & 255, (i * 7) & 255, (i * 31) & 255))
      const { number, most } = shardFor(hash, 1_000)
      expect(most).toBeLessThanOrEqual(MAX_SHARD_ENTRIES)
      met.set(number, (met.get(number) ?? 0) + 1)
    }
    expect([...met.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i))
    expect(Math.min(...met.values())).toBeGreaterThan(500)
  })
})
