import { expect, test } from 'vitest'
import { tagOf } from '../../core/names.ts'
import { memory } from '../../stores/memory/index.ts'
import { SHARDS, secretName, shardGroups, shardOf } from './shards.ts'

test('the first digit of its hash says where a domain lies', () => {
  for (const [at, shard] of SHARDS.entries()) {
    expect(shardOf(Uint8Array.of(at * 16 + 5, 9))).toBe(shard)
  }
})

test('one transaction reaches all shards of a store that has one partition', () => {
  expect(shardGroups(memory())).toEqual([SHARDS])
})

test('and each alone where the tag decides', () => {
  expect(shardGroups({ partition: tagOf })).toEqual(SHARDS.map((shard) => [shard]))
  const byParity = (name: string) => String(Number.parseInt(tagOf(name), 16) % 2)
  const [even, odd] = shardGroups({ partition: byParity })
  expect([even?.join(''), odd?.join('')]).toEqual(['02468ace', '13579bdf'])
})

test('names of one shard carry its tag', () => {
  expect(secretName('b', 'domain', 'a/b')).toBe('secrets/{b}/domain/a%2Fb')
})
