import { expect, test } from 'vitest'
import { after, hours } from '../core/index.ts'
import { fakeClock } from '../testing/index.ts'
import { createBoard } from './board.ts'
import type { Rate } from './rate.ts'

const clock = fakeClock()
const ADA = { issuer: 'did:key:zAda', chain: [] }
const rate = (id: string, more: Partial<Rate> = {}): Rate => ({
  id,
  subject: 'a.test',
  rate: 0,
  at: clock(),
  by: ADA,
  ...more,
})
const change = { kind: 'set', at: clock(), by: ADA } as const

test('the same change heard twice is heard once', () => {
  const board = createBoard()
  const heard = { ...change, added: [rate('one')], removed: [] }
  board.apply(heard)
  board.apply(heard)
  expect(board.applying(['a.test'], clock())).toHaveLength(1)
  board.apply({ ...change, added: [rate('two')], removed: [rate('one')] })
  expect(board.applying(['a.test'], clock()).map(({ rate: { id } }) => id)).toEqual(['two'])
})

test('what has expired takes up memory only until the next sweep', () => {
  const board = createBoard()
  board.put(rate('one', { expiresAt: after(clock(), hours(1)) }))
  board.put(rate('two', { subject: 'b.test' }))
  board.prune(after(clock(), hours(1)))
  expect(board.size()).toBe(1)
})
