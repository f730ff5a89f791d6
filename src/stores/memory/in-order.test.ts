import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { seeded } from '../../../test/support/random.ts'
import { inOrder } from './in-order.ts'

describe('a list of many keys', () => {
  const COUNT = times(20_000, 1_000_000)
  const keys = Array.from({ length: COUNT }, (_, i) => `requests/Orders:${(i * 7_919) % COUNT}`)

  /** The same chance in every run, and how often keys were looked at. */
  const counted = () => {
    const random = seeded(1)
    let looks = 0
    const next = inOrder(
      keys,
      '',
      (one, other) => {
        looks += 1
        return one < other ? -1 : 1
      },
      () => random.below(2 ** 32) / 2 ** 32,
    )
    const looked = (): number => {
      const since = looks
      looks = 0
      return since
    }
    return { next, looked }
  }

  test('looks a few times at each key for its first page, and later only at what it shows', () => {
    const page = 1_000
    const { next, looked } = counted()
    const shown = [...next(page)]
    // Three times as many is what chance makes of it at worst, give or take.
    expect(looked()).toBeLessThan(8 * COUNT)
    let most = 0
    for (;;) {
      const keysOfPage = next(page)
      if (keysOfPage.length === 0) break
      most = Math.max(most, looked())
      shown.push(...keysOfPage)
    }
    expect(most).toBeLessThan(4 * COUNT)
    expect(shown).toEqual(keys.toSorted())
  })

  test('goes on where it stopped: all pages together cost little more than the sorting', () => {
    const { next, looked } = counted()
    while (next(100).length > 0);
    expect(looked()).toBeLessThan(3 * COUNT * Math.log2(COUNT))
  })
})
