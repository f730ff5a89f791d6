import { expect, test } from 'vitest'
import { recent } from './recent.ts'

test('what was set is there, and the newest of it', () => {
  const lengths = recent<number>(2)
  expect(lengths.get('abc')).toBeUndefined()
  lengths.set('abc', 3)
  lengths.set('abc', 4)
  expect(lengths.get('abc')).toBe(4)
})

test('the last `size` are always there, and never more than twice as many', () => {
  const numbers = recent<number>(10)
  for (let n = 1; n <= 100; n++) {
    numbers.set(`${n}`, n)
    const kept = Array.from({ length: n }, (_, i) => i + 1).filter((i) => numbers.get(`${i}`) === i)
    expect(kept.slice(-10)).toEqual(
      Array.from({ length: Math.min(n, 10) }, (_, i) => Math.max(0, n - 10) + i + 1),
    )
    expect(kept.length).toBeLessThanOrEqual(20)
  }
})
