/** Holds while they are open, as people look for them. */
import { describe, expect, test } from 'vitest'
import { codeOf, type Desk, openDesk } from '../../../test/support/ledger-desk.ts'
import { seconds } from '../../core/time.ts'

const ALPHA = { id: 'alpha', ethAddresses: ['0xa1', '0xa2'], subscriptionType: 'EXTENDED' }
const opened = (settings = {}) => openDesk({ total: 100_000n, plans: [ALPHA], ...settings })

const hold = async ({ spending }: Desk, from: string, holdFor = 60, estimate = 10n) =>
  (await spending.hold({ from, estimate, holdFor: seconds(holdFor) })).holdId ?? ''

const idsOf = async ({ spending }: Desk, ask = {}) =>
  (await spending.holds(ask)).holds.map(({ holdId }) => holdId)

describe('open holds', () => {
  test('are listed with what they keep aside, those that end first come first', async () => {
    const desk = opened()
    const { spending } = desk
    const long = await hold(desk, '0xa1', 120)
    const short = await hold(desk, 'user:42', 60, 30n)
    await spending.capture({ holdId: short, amount: 12n })
    const { holds, next } = await spending.holds()
    expect(holds).toMatchObject([
      {
        holdId: short,
        party: { plan: 'basic:user:42', member: 'user:42', operation: 'Unspecified' },
        amount: 30n,
        open: 18n,
        captured: 12n,
        madeAt: desk.clock(),
        expiresAt: desk.clock() + seconds(60),
      },
      { holdId: long, party: { plan: 'alpha', member: '0xa1' }, open: 10n },
    ])
    expect(next).toBeUndefined()
  })

  test('leave the list when they are settled, released or extended, or end by themselves', async () => {
    const desk = opened()
    const { spending } = desk
    const settled = await hold(desk, '0xa1')
    const released = await hold(desk, '0xa1')
    const extended = await hold(desk, '0xa1')
    const ended = await hold(desk, '0xa1', 30)
    await spending.settle({ holdId: settled, amount: 3n })
    await spending.release({ holdId: released })
    const { holdId: longer } = await spending.extend({ holdId: extended, estimate: 5n })
    expect(await idsOf(desk)).toEqual([ended, longer])
    desk.clock.advance(seconds(30))
    expect(await idsOf(desk)).toEqual([longer])
    await spending.settle({ holdId: ended, amount: 3n })
    expect(await idsOf(desk)).toEqual([longer])
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('are those of a plan or of a member, however it is spelt', async () => {
    const desk = opened()
    const [first, second] = [await hold(desk, '0xa1', 10), await hold(desk, '0xa2', 20)]
    const own = await hold(desk, '0xb1', 30)
    expect(await idsOf(desk, { plan: 'alpha' })).toEqual([first, second])
    expect(await idsOf(desk, { member: '0xA2' })).toEqual([second])
    expect(await idsOf(desk, { plan: 'basic:0xB1' })).toEqual([own])
    expect(await idsOf(desk, { plan: 'alpha', member: '0xb1' })).toEqual([])
    expect(await codeOf(desk.spending.holds({ plan: 'nobody' }))).toBe('PLAN_NOT_FOUND')
    expect(await codeOf(desk.spending.holds({ member: 'a b' }))).toBe('ADDRESS_INVALID')
  })

  test('come page by page, each once, while others come and go', async () => {
    const desk = opened()
    const ids: string[] = []
    for (let n = 0; n < 7; n++) ids.push(await hold(desk, n % 2 === 0 ? '0xa1' : '0xb1', 60 + n))
    const pages: string[][] = []
    let after: string | undefined
    do {
      const { holds, next } = await desk.spending.holds({ limit: 3, after })
      pages.push(holds.map(({ holdId }) => holdId))
      after = next
      const gone = pages.length === 1 ? ids[1] : undefined
      if (gone !== undefined) await desk.spending.release({ holdId: gone })
    } while (after !== undefined)
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  })

  test('are not listed from a place that no page gave, or in pages of any size', async () => {
    const { spending } = opened()
    expect(await codeOf(spending.holds({ after: 'x' }))).toBe('HOLDS_ASK_INVALID')
    for (const limit of [0, 1.5, 1_001]) {
      expect(await codeOf(spending.holds({ limit }))).toBe('HOLDS_ASK_INVALID')
    }
  })

  test('can be settled by the ids of the list', async () => {
    const desk = opened()
    await hold(desk, '0xa1')
    const [holdId = ''] = await idsOf(desk)
    expect(await desk.spending.settle({ holdId, amount: 4n })).toMatchObject({ charged: 4n })
  })
})
