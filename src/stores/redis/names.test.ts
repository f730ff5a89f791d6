import { expect, test } from 'vitest'
import { redisNames } from './names.ts'

test('keys, indexes and streams of one name are different things, all under the prefix', () => {
  const names = redisNames('p:')
  const all = [names.key('a'), names.index('a'), names.stream('a'), names.claims(), names.format]
  expect(new Set(all).size).toBe(5)
  for (const name of all) expect(name.startsWith('p:')).toBe(true)
  expect(names.keyOf(names.key('a{b}'))).toBe('a{b}')
})

test('a prefix with signs that SCAN takes for a pattern matches itself only', () => {
  expect(redisNames('a*[b]?:').allKeys).toBe('a\\*\\[b\\]\\?:k:*')
})

test('a prefix with braces is a bug: Redis would hash it in the place of tags', () => {
  expect(() => redisNames('{app}:')).toThrow('a prefix of names has no braces')
})
