import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { instant } from '../../core/time.ts'
import { createBoard } from '../gate.ts'
import { decodeEffect, effectOf, encodeEffect, isBlock, isLive } from './rate.ts'

describe('what several rates come to', () => {
  const END = instant(1_700_000_000_000_000)
  const LATER = instant(END + 5)

  test.each([
    ['a block', [{ rate: 0 }], 0],
    ['a block of less than nothing', [{ rate: -3 }], 0],
    ['a block that ends', [{ rate: 0, expiresAt: END }], -END],
    ['a rate', [{ rate: 2.5 }], 2.5],
    ['a rate that ends', [{ rate: 2, expiresAt: END }], [2, END]],
    ['a block and one that ends sooner', [{ rate: 0, expiresAt: END }, { rate: 0 }], 0],
    ['a block and a rate', [{ rate: 4 }, { rate: 0, expiresAt: END }], [0, END, 4, 0]],
    [
      'a small rate that ends before a larger one',
      [{ rate: 9 }, { rate: 2, expiresAt: END }],
      [2, END, 9, 0],
    ],
    [
      'a large rate that ends before a smaller one',
      [
        { rate: 9, expiresAt: END },
        { rate: 2, expiresAt: LATER },
      ],
      [2, LATER],
    ],
  ])('%s', (_, rates, effect) => {
    expect(effectOf(rates)).toEqual(effect)
  })

  test('no rates come to nothing', () => {
    expect(effectOf([])).toBeUndefined()
  })

  test('decides at any time as all the rates together do', () => {
    const moments = fc.integer({ min: 1, max: 50 }).map(instant)
    const rate = fc.record({
      rate: fc.oneof(
        fc.integer({ min: -2, max: 5 }),
        fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      ),
      expiresAt: fc.option(moments, { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(rate, { minLength: 1, maxLength: 8 }), moments, (rates, now) => {
        const board = createBoard()
        board.put('name:a.test', decodeEffect(encodeEffect(effectOf(rates) ?? 0)))
        const live = rates.filter((each) => isLive(each, now))
        const positive = live.filter((each) => !isBlock(each)).map((each) => each.rate)
        expect(board.blockOn(['a.test'], now) !== undefined).toBe(live.some(isBlock))
        const smallest = board.smallestRate(['a.test'], now) ?? Number.POSITIVE_INFINITY
        expect(smallest).toBe(Math.min(Number.POSITIVE_INFINITY, ...positive))
        board.sweep(now, 1)
        expect(board.size()).toBe(live.length === 0 ? 0 : 1)
      }),
      { numRuns: times(500, 50_000) },
    )
  })
})
