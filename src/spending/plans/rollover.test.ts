/** Rollover: what a window leaves unused, carried over once and by the limit that it had. */
import { describe, expect, test } from 'vitest'
import { codeOf, type Desk, openDesk, plansOf } from '../../../test/support/ledger-desk.ts'
import { days, seconds } from '../../core/time.ts'

const ALPHA = { id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }
const opened = (settings = {}) => openDesk({ total: 100_000n, plans: [ALPHA], ...settings })
const spend = (desk: Desk, amount: bigint) => desk.spending.record({ from: '0xa1', amount })
const remaining = async (desk: Desk) => (await desk.spending.plan('alpha')).remaining
const entriesOf = async (desk: Desk) => (await desk.spending.history('alpha')).entries
const drawsOf = async (desk: Desk) => (await entriesOf(desk)).flatMap(({ draws = [] }) => draws)

describe('rollover', () => {
  const rollover = { sharePerMille: 500 }

  test('is fixed by the first charge of the window: later news of the old one change nothing', async () => {
    const desk = opened({ rollover, start: '2026-01-01T23:59:00Z' })
    const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 400n })
    desk.clock.advance(seconds(90))
    expect(await remaining(desk)).toBe(600n)
    await spend(desk, 10n)
    await desk.spending.release({ holdId })
    expect(await remaining(desk)).toBe(590n)
  })

  test('goes on from window to window, never above the share', async () => {
    const desk = opened({ rollover })
    await spend(desk, 400n)
    desk.clock.advance(days(1))
    await spend(desk, 450n)
    desk.clock.advance(days(1))
    expect(await remaining(desk)).toBe(650n)
  })

  test('is used before grants are', async () => {
    const desk = opened({ rollover })
    await spend(desk, 400n)
    desk.clock.advance(days(1))
    await desk.spending.grant({ plan: 'alpha', amount: 50n })
    await spend(desk, 600n)
    expect(await drawsOf(desk)).toEqual([])
    await spend(desk, 10n)
    expect(await drawsOf(desk)).toMatchObject([{ amount: 10n }])
  })

  test('switched off for a window and on again carries nothing of what was charged meanwhile', async () => {
    const desk = opened({ rollover })
    await spend(desk, 500n)
    desk.clock.advance(days(1))
    const { rollover: _, ...without } = desk.settings
    desk.settings = without
    await spend(desk, 400n)
    desk.clock.advance(days(1))
    desk.settings = { ...without, rollover }
    expect(await remaining(desk)).toBe(500n)
    await spend(desk, 500n)
    expect(await remaining(desk)).toBe(0n)
    expect((await desk.spending.verify()).findings).toEqual([])
  })

  test('brings nothing to users that were never seen, nor to plans made in this window', async () => {
    const desk = opened({ rollover })
    await spend(desk, 1n)
    desk.clock.advance(days(1))
    await desk.spending.createPlan({ id: 'new', tier: 'EXTENDED' })
    expect((await desk.spending.standing({ from: '0xc1' })).plan?.remaining).toBe(300n)
    expect((await desk.spending.plan('new')).remaining).toBe(500n)
  })

  test('carries what a general user left unused', async () => {
    const desk = opened({ rollover })
    await desk.spending.record({ from: '0xc1', amount: 250n })
    desk.clock.advance(days(1))
    expect((await desk.spending.standing({ from: '0xc1' })).plan?.remaining).toBe(350n)
  })

  test.each([-1, 1_001, 0.5])('has no share of %s per mille', async (sharePerMille) => {
    const desk = opened({ rollover: { sharePerMille } })
    await desk.spending.start()
    desk.clock.advance(days(1))
    expect(await codeOf(desk.spending.plan('alpha'))).toBe('ROLLOVER_INVALID')
  })

  test('is an entry of the first charge: from which window, into which, how much', async () => {
    const desk = opened({ rollover })
    await spend(desk, 400n)
    const from = (await desk.spending.window()).startsAt
    desk.clock.advance(days(1))
    await spend(desk, 10n)
    await spend(desk, 10n)
    const window = (await desk.spending.window()).startsAt
    expect((await entriesOf(desk)).filter(({ kind }) => kind === 'rollover')).toMatchObject([
      { from, window, moves: [{ from: 'available', to: 'carried', amount: 100n }] },
    ])
  })

  test('goes by the limit of the old window: one that is raised later carries nothing from nothing', async () => {
    const desk = opened({
      rollover: { sharePerMille: 1_000 },
      plans: [{ ...ALPHA, limit: '100' }],
    })
    await spend(desk, 100n)
    desk.clock.advance(days(1))
    desk.plans = plansOf({ ...ALPHA, limit: '1000' })
    expect(await remaining(desk)).toBe(1_000n)
    await spend(desk, 1n)
    expect(await remaining(desk)).toBe(999n)
  })

  test('goes by the last limit that was charged under, also over windows that were left out', async () => {
    const desk = opened({
      rollover: { sharePerMille: 1_000 },
      plans: [{ ...ALPHA, limit: '100' }],
    })
    await spend(desk, 100n)
    desk.clock.advance(days(3))
    desk.plans = plansOf({ ...ALPHA, limit: '1000' })
    expect(await remaining(desk)).toBe(1_100n)
    desk.plans = plansOf({ ...ALPHA, limit: '0' })
    expect(await remaining(desk)).toBe(0n)
  })

  const lateAfterCarrying = async () => {
    const desk = opened({
      rollover: { sharePerMille: 1_000 },
      start: '2026-01-01T23:00:00Z',
      plans: [{ ...ALPHA, limit: '100' }],
    })
    const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 100n })
    desk.clock.advance(days(1))
    await spend(desk, 1n)
    expect(await remaining(desk)).toBe(199n)
    return { desk, holdId }
  }

  test('is taken back by what is settled late in the window that it came from', async () => {
    const { desk, holdId } = await lateAfterCarrying()
    const settled = await desk.spending.settle({ holdId, amount: 100n })
    expect(settled).toMatchObject({ charged: 100n, late: true })
    expect(await remaining(desk)).toBe(99n)
    expect((await entriesOf(desk)).filter(({ kind }) => kind === 'rollover')).toMatchObject([
      { moves: [{ from: 'available', to: 'carried', amount: 100n }] },
      { moves: [{ from: 'carried', to: 'available', amount: 100n }] },
    ])
    expect((await desk.spending.hold({ from: '0xa1', estimate: 100n })).allowed).toBe(false)
    expect((await desk.spending.hold({ from: '0xa1', estimate: 99n })).allowed).toBe(true)
  })

  test('is taken back once, and before grants are drawn', async () => {
    const { desk, holdId } = await lateAfterCarrying()
    await desk.spending.grant({ plan: 'alpha', amount: 50n })
    await desk.spending.settle({ holdId, amount: 60n })
    expect(await remaining(desk)).toBe(189n)
    await desk.spending.capture({ holdId, amount: 120n })
    expect(await drawsOf(desk)).toMatchObject([{ amount: 20n }])
    expect(await remaining(desk)).toBe(129n)
  })

  test('is taken back from the newest window that it came to', async () => {
    const { desk, holdId } = await lateAfterCarrying()
    desk.clock.advance(days(1))
    await spend(desk, 1n)
    expect(await remaining(desk)).toBe(199n)
    await desk.spending.settle({ holdId, amount: 100n })
    expect(await remaining(desk)).toBe(99n)
  })

  test('from a window in which nothing was charged is nobody’s to take back', async () => {
    const { desk, holdId } = await lateAfterCarrying()
    desk.clock.advance(days(2))
    await spend(desk, 1n)
    await desk.spending.settle({ holdId, amount: 100n })
    expect(await remaining(desk)).toBe(199n)
  })
})
