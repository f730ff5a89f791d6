/** Grants and rollover: what a plan may spend beyond its allowance. */
import { describe, expect, test } from 'vitest'
import { codeOf, type Desk, openDesk } from '../../test/support/ledger-desk.ts'
import { days, hours, instant, seconds } from '../core/time.ts'
import { MAX_GRANTS } from './grants.ts'

const ALPHA = { id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }
const opened = (settings = {}) => openDesk({ total: 100_000n, plans: [ALPHA], ...settings })
const spend = (desk: Desk, amount: bigint) => desk.spending.record({ from: '0xa1', amount })
const remaining = async (desk: Desk) => (await desk.spending.plan('alpha')).remaining
const drawsOf = async (desk: Desk) =>
  (await desk.spending.history('alpha')).entries.flatMap(({ draws = [] }) => draws)

describe('grants', () => {
  test('are used after the allowance: by priority, then soonest expiry, then age', async () => {
    const desk = opened()
    const soon = instant(desk.clock() + hours(1))
    const later = instant(desk.clock() + hours(2))
    const give = async (amount: bigint, priority: number, expiresAt = later) =>
      (await desk.spending.grant({ plan: 'alpha', amount, priority, expiresAt })).grantId
    const last = await give(10n, 5, soon)
    const second = await give(10n, 1)
    const first = await give(10n, 1, soon)
    const third = await give(10n, 1)
    expect(await spend(desk, 535n)).toMatchObject({
      plan: { limit: 500n, spent: 535n, remaining: 5n },
    })
    expect(await drawsOf(desk)).toEqual([
      { grant: first, amount: 10n },
      { grant: second, amount: 10n },
      { grant: third, amount: 10n },
      { grant: last, amount: 5n },
    ])
  })

  test('that are used up stay used up in the next window', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 200n })
    await spend(desk, 650n)
    desk.clock.advance(days(1))
    expect(await remaining(desk)).toBe(550n)
    await spend(desk, 600n)
    expect(await remaining(desk)).toBe(-50n)
  })

  test('pay at once for what was overspent before', async () => {
    const desk = opened()
    await spend(desk, 600n)
    const { plan } = await desk.spending.grant({ plan: 'alpha', amount: 150n, reason: 'goodwill' })
    expect(plan).toMatchObject({ spent: 600n, remaining: 50n })
    desk.clock.advance(days(1))
    expect(await remaining(desk)).toBe(550n)
  })

  test('that expire leave what was drawn from them', async () => {
    const desk = opened()
    const expiresAt = instant(desk.clock() + hours(1))
    await desk.spending.grant({ plan: 'alpha', amount: 200n, expiresAt })
    await spend(desk, 600n)
    desk.clock.advance(hours(1))
    expect(await remaining(desk)).toBe(0n)
  })

  test('cover holds as the allowance does', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 200n })
    const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 700n })
    expect((await desk.spending.check({ from: '0xa1' })).reason).toBe('PLAN_LIMIT')
    await desk.spending.settle({ holdId, amount: 550n })
    expect(await remaining(desk)).toBe(150n)
    desk.clock.advance(days(1))
    expect(await remaining(desk)).toBe(650n)
  })

  test('go to any plan, also to one that nobody created', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'basic:0xc1', amount: 50n })
    expect((await desk.spending.check({ from: '0xc1', estimate: 350n })).allowed).toBe(true)
  })

  test('change nothing for an unlimited plan', async () => {
    const desk = opened({ plans: [{ ...ALPHA, limit: 'unlimited' }] })
    const { plan } = await desk.spending.grant({ plan: 'alpha', amount: 50n })
    expect(plan).toMatchObject({ limit: 'unlimited', remaining: 'unlimited' })
    await spend(desk, 1_000n)
    expect(await drawsOf(desk)).toEqual([])
  })

  test('name a plan, an amount and a time to come', async () => {
    const desk = opened()
    const past = desk.clock()
    const grant = (ask: object) =>
      codeOf(desk.spending.grant({ plan: 'alpha', amount: 1n, ...ask }))
    expect(await grant({ plan: 'nobody' })).toBe('PLAN_NOT_FOUND')
    expect(await grant({ amount: 0n })).toBe('GRANT_INVALID')
    expect(await grant({ amount: -1n })).toBe('AMOUNT_INVALID')
    expect(await grant({ priority: 0.5 })).toBe('GRANT_INVALID')
    expect(await grant({ expiresAt: past })).toBe('GRANT_INVALID')
  })

  test('are bounded, for they are read on every admission', async () => {
    const desk = opened()
    for (let i = 0; i < MAX_GRANTS; i++) await desk.spending.grant({ plan: 'alpha', amount: 1n })
    const more = desk.spending.grant({ plan: 'alpha', amount: 1n })
    expect(await codeOf(more)).toBe('GRANTS_TOO_MANY')
  })
})

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

  test('brings nothing to users that nobody has seen, nor to plans made in this window', async () => {
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
})
