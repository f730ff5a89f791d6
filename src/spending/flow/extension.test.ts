/** A hold lasts as long as it is told, and goes on for as long as there is money. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'
import { days, hours, seconds, span } from '../../core/time.ts'

describe('a lifetime of its own', () => {
  test('keeps a hold open for longer than the settings say', async () => {
    const { spending, clock } = openDesk()
    const ask = { from: '0xa1', estimate: 100n, holdFor: hours(2) }
    const { holdId = '' } = await spending.hold(ask)
    clock.advance(hours(1))
    expect((await spending.standing({ from: '0xa1' })).plan?.held).toBe(100n)
    expect(await spending.settle({ holdId, amount: 80n })).toMatchObject({ late: false })
  })

  test.each([0, 999_999, days(1) + 1])('of %s microseconds is none', async (holdFor) => {
    const { spending } = openDesk()
    const call = spending.hold({ from: '0xa1', estimate: 1n, holdFor: span(holdFor) })
    expect(await codeOf(call)).toBe('HOLD_LIFETIME_INVALID')
  })
})

describe('an extension', () => {
  test('puts a new hold in the place of the old one, which ends at its captures', async () => {
    const { spending, clock } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
    await spending.capture({ holdId, amount: 60n })
    clock.advance(seconds(100))
    const longer = await spending.extend({ holdId, estimate: 50n })
    expect(longer).toMatchObject({ allowed: true, plan: { spent: 60n, held: 90n } })
    expect(longer.expiresAt).toBe(clock() + seconds(180))
    expect(await codeOf(spending.extend({ holdId }))).toBe('HOLD_CLOSED')
    await spending.settle({ holdId: longer.holdId ?? '', amount: 70n })
    expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({
      spent: 130n,
      held: 0n,
    })
    expect((await spending.verify()).findings).toEqual([])
  })

  test('that is refused leaves the hold as it was', async () => {
    const { spending } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
    const refused = await spending.extend({ holdId, estimate: 201n })
    expect(refused).toMatchObject({ allowed: false, reason: 'PLAN_LIMIT' })
    expect(await spending.settle({ holdId, amount: 100n })).toMatchObject({ overage: 0n })
  })

  test('told twice under one id happens once', async () => {
    const { spending } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
    const ask = { holdId, estimate: 50n, operationId: 'next-1' }
    const first = await spending.extend(ask)
    expect(await spending.extend(ask)).toEqual({ ...first, replayed: true })
    expect((await spending.standing({ from: '0xa1' })).plan?.held).toBe(150n)
  })

  test('goes on in the next window, from the budgets of that', async () => {
    const { spending, clock } = openDesk({ start: '2026-01-01T23:59:00Z' })
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 300n })
    await spending.capture({ holdId, amount: 300n })
    clock.advance(seconds(90))
    const next = await spending.extend({ holdId, estimate: 300n })
    expect(next).toMatchObject({ allowed: true, plan: { spent: 0n, held: 300n } })
    expect((await spending.verify()).findings).toEqual([])
  })
})

test('a stream that is paid as it flows never passes its budget by more than one chunk', async () => {
  const { spending } = openDesk({ tiers: { BASIC: 95n, EXTENDED: 0n, PRIVILEGED: 0n } })
  const chunk = 10n
  let chunks = 0
  let answer = await spending.hold({ from: 'user:42', estimate: chunk })
  while (answer.allowed) {
    const { holdId = '' } = answer
    // Each costs a little more than was expected.
    await spending.capture({ holdId, amount: chunk + 1n })
    chunks += 1
    answer = await spending.extend({ holdId, estimate: chunk })
  }
  const { plan } = await spending.standing({ from: 'user:42' })
  expect(chunks).toBe(8)
  expect(plan?.spent).toBeLessThanOrEqual(95n + chunk + 1n)
  expect((await spending.verify()).findings).toEqual([])
})

test('under the operation id of its hold is another booking, and verify knows', async () => {
  const { spending } = openDesk()
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 10n, operationId: 'x' })
  await spending.extend({ holdId, estimate: 5n, operationId: 'x' })
  expect((await spending.verify()).findings).toEqual([])
})

test('of a hold from before spending was switched off goes on under that hold', async () => {
  const desk = openDesk()
  const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 10n })
  desk.settings = { ...desk.settings, total: 0n }
  const off = await desk.spending.extend({ holdId, estimate: 5n })
  expect(off).toMatchObject({ allowed: true, holdId })
  expect(await desk.spending.settle({ holdId, amount: 7n })).toMatchObject({ charged: 7n })
  expect((await desk.spending.verify()).findings).toEqual([])
})
