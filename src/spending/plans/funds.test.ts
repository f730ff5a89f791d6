/** Grants as accounts: nothing that is taken, pinned and given back adds up to more than was granted. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instant } from '../../core/time.ts'
import {
  drawFrom,
  freeOf,
  type Grant,
  inOrderOfUse,
  pinOn,
  splitPins,
  sumOf,
  unpin,
} from './funds.ts'

const NOW = instant(1_000)
const END = instant(2_000)
const grant = (id: string, amount: bigint, expiresAt?: number): Grant => ({
  id,
  amount,
  priority: 0,
  expiresAt: expiresAt === undefined ? undefined : instant(expiresAt),
  spent: 0n,
  held: [],
})

describe('a grant', () => {
  test('is free less what is spent and pinned, and not at all once it has expired', () => {
    const { grants } = drawFrom([grant('a', 10n), grant('b', 10n, 1_500)], 3n, NOW)
    const pinned = pinOn(grants, 9n, NOW, END)
    expect(pinned.draws).toEqual([
      { grant: 'a', amount: 7n },
      { grant: 'b', amount: 2n },
    ])
    expect(freeOf(pinned.grants, NOW)).toBe(8n)
    expect(freeOf(pinned.grants, instant(1_500))).toBe(0n)
    expect(freeOf(pinned.grants, END)).toBe(7n)
  })

  test('comes before those that expire later, and of equals before the younger', () => {
    const listed = inOrderOfUse([grant('old', 1n), grant('soon', 1n, 5), grant('young', 1n)])
    expect(listed.map(({ id }) => id)).toEqual(['soon', 'old', 'young'])
  })
})

test('pins are split at an amount, the first first', () => {
  const pins = [
    { grant: 'a', amount: 5n },
    { grant: 'b', amount: 5n },
  ]
  expect(splitPins(pins, 7n)).toEqual({
    first: [
      { grant: 'a', amount: 5n },
      { grant: 'b', amount: 2n },
    ],
    rest: [{ grant: 'b', amount: 3n }],
  })
})

test('drawn, pinned and free add up to what was granted', () => {
  const step = fc.record({
    needed: fc.bigInt({ min: 0n, max: 50n }),
    how: fc.constantFrom('draw', 'pin', 'spend pins', 'return pins'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      let grants: readonly Grant[] = [grant('a', 40n), grant('b', 60n)]
      let open: ReturnType<typeof pinOn>['draws'] = []
      for (const { needed, how } of steps) {
        if (how === 'draw') grants = drawFrom(grants, needed, NOW).grants
        else if (how === 'pin' && open.length === 0) {
          const pinned = pinOn(grants, needed, NOW, END)
          grants = pinned.grants
          open = pinned.draws
        } else if (how !== 'pin') {
          const { first, rest } = splitPins(open, needed)
          const spend = how === 'spend pins'
          grants = unpin(grants, first, { expiresAt: END, now: NOW, spend })
          open = rest
        }
        const spent = grants.reduce((sum, each) => sum + each.spent, 0n)
        expect(spent + sumOf(open) + freeOf(grants, NOW)).toBe(100n)
      }
    }),
  )
})
