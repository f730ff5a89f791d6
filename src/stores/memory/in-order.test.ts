import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { inOrder } from './in-order.ts'

describe('a list of many keys', () => {
  const COUNT = times(20_000, 1_000_000)
  const keys = Array.from({ length: COUNT }, (_, i) => `requests/Orders:${(i * 7_919) % COUNT}`)

  test('looks a few times at each key for its first page, and later only at what it shows', () => {
    const page = 1_000
    let looks = 0
    const next = inOrder(keys, '', (one, other) => {
      looks += 1
      return one < other ? -1 : 1
    })
    const shown = [...next(page)]
    // Three times as many is what chance makes of it at worst, give or take.
    expect(looks).toBeLessThan(8 * COUNT)
    let most = 0
    for (;;) {
      looks = 0
      const keysOfPage = next(page)
      if (keysOfPage.length === 0) break
      most = Math.max(most, looks)
      shown.push(...keysOfPage)
    }
    expect(most).toBeLessThan(4 * COUNT)
    expect(shown).toEqual(keys.toSorted())
  })

  test('goes on where it stopped: all pages together cost little more than the sorting', () => {
    let looks = 0
    const next = inOrder(keys, '', (one, other) => {
      looks += 1
      return one < other ? -1 : 1
    })
    while (next(100).length > 0);
    expect(looks).toBeLessThan(3 * COUNT * Math.log2(COUNT))
  })
})
