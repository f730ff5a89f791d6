/** The arithmetic behind bench/RESULTS.md. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare, percentile, shuffle, summarise } from '../../bench/stats.js'

const rates = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 20 })

describe('the middle and the range', () => {
  test('the median of an odd count is the middle one, in whatever order they came', () => {
    expect(summarise([30, 10, 20])).toEqual({ median: 20, low: 10, high: 30 })
  })

  test('the median of an even count lies between the middle two', () => {
    expect(summarise([4, 1, 2, 3]).median).toBe(2.5)
  })

  test('one wild round moves the range and not the median', () => {
    expect(summarise([100, 101, 99, 5, 100])).toEqual({ median: 100, low: 5, high: 101 })
  })

  test('of no measurements there is no median', () => {
    expect(() => summarise([])).toThrow('no measurements')
  })

  test('the median lies within the range', () => {
    fc.assert(
      fc.property(rates, (samples) => {
        const { low, median, high } = summarise(samples)
        expect(low <= median && median <= high).toBe(true)
      }),
    )
  })
})

describe('a percentile', () => {
  test('is the least sample that so many do not pass', () => {
    const hundred = Array.from({ length: 100 }, (_, n) => 100 - n)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile([7], 0.99)).toBe(7)
  })

  test('of nothing is nothing', () => {
    expect(percentile([], 0.99)).toBe(0)
  })
})

describe('a variant beside the base', () => {
  test('the ratio pairs the rounds, so that a slow round of both counts for nothing', () => {
    expect(compare([200, 20, 210], [100, 10, 105]).ratio).toBe(2)
  })

  test('ranges that overlap are not resolved', () => {
    expect(compare([90, 110, 120], [80, 100, 95]).resolved).toBe(false)
  })

  test('ranges that only touch are not resolved either', () => {
    expect(compare([100, 110, 120], [80, 90, 100]).resolved).toBe(false)
  })

  test('ranges apart are resolved, on either side', () => {
    expect(compare([101, 110], [80, 100]).resolved).toBe(true)
    expect(compare([80, 100], [101, 110]).resolved).toBe(true)
  })

  test('a variant beside itself is once as fast, and never resolved', () => {
    fc.assert(
      fc.property(rates, (samples) => {
        expect(compare(samples, samples)).toEqual({ ratio: 1, resolved: false })
      }),
    )
  })

  test('rounds that do not pair up are refused', () => {
    expect(() => compare([1, 2], [1])).toThrow('rounds must pair up: 2 beside 1')
  })
})

describe('the order of turns', () => {
  test('everyone has one turn, and the list itself stays as it was', () => {
    const list = ['a', 'b', 'c', 'd']
    expect(shuffle(list).toSorted()).toEqual(list)
    expect(list).toEqual(['a', 'b', 'c', 'd'])
  })

  test('the draw decides the order', () => {
    expect(shuffle(['a', 'b', 'c'], () => 0)).toEqual(['a', 'b', 'c'])
    expect(shuffle(['a', 'b', 'c'], () => 0.99)).toEqual(['c', 'b', 'a'])
  })
})
