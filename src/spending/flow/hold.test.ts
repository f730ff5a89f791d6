/** Holds: kept aside, captured in part, settled or released once, and gone by themselves. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk, SETTINGS } from '../../../test/support/ledger-desk.ts'
import { MAX_FINE_HOLDS } from '../../core/budget.ts'
import { days, hours, millis, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { remoteStore } from '../../testing/remote-store.ts'
import { createSpending, NO_PLANS } from '../index.ts'

const held = async (desk: ReturnType<typeof openDesk>, estimate = 200n, from = '0xa1') => {
  const { holdId = '' } = await desk.spending.hold({ from, estimate })
  return holdId
}

describe('a hold', () => {
  test('is kept aside in every budget of its caller, and nowhere else', async () => {
    const desk = openDesk({
      plans: [{ id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }],
    })
    const answer = await desk.spending.hold({ from: '0xA1', estimate: 200n })
    expect(answer).toMatchObject({
      allowed: true,
      reason: null,
      plan: { id: 'alpha', tier: 'EXTENDED', limit: 500n, spent: 0n, held: 200n, remaining: 300n },
      total: { limit: 1_000n, spent: 0n, held: 200n, remaining: 800n },
    })
    const other = await desk.spending.standing({ from: '0xb1' })
    expect(other).toMatchObject({ plan: { held: 0n, fresh: true }, total: { held: 200n } })
  })

  test('carries its time in its id, and another secret each time', async () => {
    const desk = openDesk()
    const [first, second] = [await held(desk, 1n), await held(desk, 1n)]
    expect(first.startsWith(`${desk.clock().toString(36)}.`)).toBe(true)
    expect(first.split('.')[0]).toBe(second.split('.')[0])
    expect(first).not.toBe(second)
  })

  test('has a secret of 96 bits of its own, however many are made in one moment', async () => {
    const desk = openDesk()
    const holds = await Promise.all(Array.from({ length: 300 }, () => held(desk, 1n)))
    const secrets = holds.map((id) => /\.([\w-]{16})~/.exec(id)?.[1])
    expect(new Set(secrets).size).toBe(300)
    expect(secrets).not.toContain(undefined)
  })

  test('is called by its time and its secret in the ledger, and can be named by these alone', async () => {
    const desk = openDesk()
    const holdId = await held(desk, 100n)
    const [kept = ''] = holdId.split('~')
    await desk.spending.capture({ holdId, amount: 10n, operationId: 'a' })
    await desk.spending.capture({ holdId: kept, amount: 10n, operationId: 'a' })
    expect(await desk.spending.settle({ holdId: kept })).toMatchObject({ plan: { spent: 10n } })
    const { entries } = await desk.spending.history('basic:0xa1')
    expect(entries.map(({ hold }) => hold)).toEqual([kept, kept, kept])
  })

  test.each([
    ['another caller', `${(1_767_225_600_000_000).toString(36)}\nUnspecified\n0xb1`],
    ['no window', '\nUnspecified\n0xa1'],
    ['a window that is no time', `${'z'.repeat(40)}\nUnspecified\n0xa1`],
    ['nothing', ''],
    ['names that are too long for a key', `1\nA\n${'%'.repeat(600)}`],
    ['names of as many bytes as it may have, all to be escaped', `1\nA\n\n\n${'%'.repeat(500)}`],
    ['no text', '\u{fffd}'.repeat(200)],
  ])('is the same whatever a forged trace in its id speaks of: %s', async (_, forged) => {
    const desk = openDesk()
    const [kept = ''] = (await held(desk, 100n)).split('~')
    await held(desk, 50n, '0xb1')
    const trace = Buffer.from(forged).toString('base64url')
    const holdId = trace === '' ? kept : `${kept}~${trace}`
    expect(await desk.spending.settle({ holdId, amount: 70n })).toMatchObject({
      charged: 70n,
      released: 30n,
      plan: { id: 'basic:0xa1', spent: 70n, held: 0n },
      total: { spent: 70n, held: 50n },
    })
    expect(await desk.spending.standing({ from: '0xb1' })).toMatchObject({ plan: { held: 50n } })
  })

  test('is not found by a forged trace with characters that no key may have, on any store', async () => {
    const clock = fakeClock()
    const store = remoteStore(memory({ clock }), { clock })
    const spending = createSpending({ store, settings: () => SETTINGS, plans: () => NO_PLANS })
    for (const forged of ['1\nX\0', '1\nX\n\u0001']) {
      const holdId = `x.y~${Buffer.from(forged).toString('base64url')}`
      expect(await codeOf(spending.settle({ holdId, amount: 1n }))).toBe('HOLD_NOT_FOUND')
    }
  })

  test('of a plan called - is answered again with that plan', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: '-', tier: 'BASIC' })
    await spending.link({ plan: '-', member: '0xa1' })
    for (const from of ['0xa1', '0xa2']) {
      const ask = { from, estimate: 1n, operationId: from }
      const first = await spending.hold(ask)
      expect(await spending.hold(ask)).toEqual({ ...first, replayed: true })
    }
  })

  test('is captured in part and keeps the rest', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    const captured = await desk.spending.capture({ holdId, amount: 80n })
    expect(captured).toMatchObject({
      charged: 80n,
      overage: 0n,
      late: false,
      plan: { spent: 80n, held: 120n, remaining: 100n },
    })
    expect(await desk.spending.settle({ holdId })).toMatchObject({
      charged: 0n,
      released: 120n,
      plan: { spent: 80n, held: 0n },
    })
  })

  test('settles at what was really spent, captures included', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    await desk.spending.capture({ holdId, amount: 80n })
    expect(await desk.spending.settle({ holdId, amount: 150n })).toMatchObject({
      charged: 70n,
      released: 50n,
      plan: { spent: 150n, held: 0n },
    })
  })

  test('charges and flags what goes beyond it, also past the limits', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    expect(await desk.spending.capture({ holdId, amount: 250n })).toMatchObject({
      overage: 50n,
      plan: { spent: 250n, held: 0n },
    })
    expect(await desk.spending.settle({ holdId, amount: 350n })).toMatchObject({
      charged: 100n,
      overage: 100n,
      plan: { spent: 350n, remaining: -50n },
    })
    const { entries } = await desk.spending.history('basic:0xa1')
    expect(entries.map(({ flags }) => flags)).toEqual([undefined, ['overage'], ['overage']])
  })

  test('that settled at a sum absorbs captures that come later, up to it', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    await desk.spending.settle({ holdId, amount: 100n })
    const first = await desk.spending.capture({ holdId, amount: 60n })
    const second = await desk.spending.capture({ holdId, amount: 60n })
    expect([first.charged, second.charged]).toEqual([0n, 20n])
    expect([first.overage, second.overage]).toEqual([0n, 20n])
  })

  test('released in part keeps what was captured, and refuses to be captured again', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    await desk.spending.capture({ holdId, amount: 80n })
    expect(await desk.spending.release({ holdId })).toMatchObject({ released: 120n })
    expect(await desk.spending.release({ holdId })).toMatchObject({ released: 0n, replayed: true })
    expect(await codeOf(desk.spending.capture({ holdId, amount: 1n }))).toBe('HOLD_CLOSED')
  })

  test('without a caller is kept aside from the total alone', async () => {
    const { spending } = openDesk()
    const answer = await spending.hold({ estimate: 200n })
    expect(answer).toMatchObject({ plan: null, total: { held: 200n } })
    const { holdId = '' } = answer
    expect(await spending.settle({ holdId, amount: 150n })).toMatchObject({
      plan: null,
      total: { spent: 150n, held: 0n },
    })
    expect(await spending.settle({ holdId, amount: 150n })).toMatchObject({ replayed: true })
  })

  test.each(['nope', '', '../x', 'a b'])('is not found under %j', async (holdId) => {
    const { spending } = openDesk()
    expect(await codeOf(spending.settle({ holdId, amount: 1n }))).toBe('HOLD_NOT_FOUND')
  })
})

describe('an expired hold', () => {
  test('frees its money by itself', async () => {
    const desk = openDesk()
    await held(desk, 300n)
    expect(await desk.spending.check({ from: '0xa1' })).toMatchObject({
      reason: 'PLAN_LIMIT',
      retryIn: seconds(180),
    })
    desk.clock.advance(seconds(180))
    expect((await desk.spending.check({ from: '0xa1', estimate: 300n })).allowed).toBe(true)
  })

  test('settled after its window is charged late, in that window', async () => {
    const desk = openDesk({ start: '2026-01-01T23:59:00Z' })
    const before = await desk.spending.window()
    const holdId = await held(desk)
    desk.clock.advance(hours(3))
    const settled = await desk.spending.settle({ holdId, amount: 150n })
    expect(settled).toMatchObject({
      charged: 150n,
      late: true,
      window: before,
      plan: { spent: 150n },
    })
    expect(await desk.spending.standing({ from: '0xa1' })).toMatchObject({
      plan: { spent: 0n },
      total: { spent: 0n },
    })
    expect((await desk.spending.report(before.startsAt)).total).toBe(150n)
    const flags = (await desk.spending.history('basic:0xa1')).entries.map((entry) => entry.flags)
    expect(flags).toEqual([undefined, ['late', 'expired']])
    expect((await desk.spending.verify()).findings).toEqual([])
  })

  test('can be released, which says no more than time did', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    desk.clock.advance(seconds(200))
    expect(await desk.spending.release({ holdId })).toMatchObject({ released: 0n, late: true })
    expect((await desk.spending.verify()).findings).toEqual([])
  })

  test('is remembered for a week, and unknown afterwards', async () => {
    const desk = openDesk()
    const holdId = await held(desk)
    desk.clock.advance(days(7))
    const settled = await desk.spending.settle({ holdId, amount: 1n })
    expect(settled.late).toBe(true)
    desk.clock.advance(days(8))
    expect(await codeOf(desk.spending.settle({ holdId, amount: 1n }))).toBe('HOLD_NOT_FOUND')
  })
})

test('a clock that steps back does not give one hold the place of another', async () => {
  const desk = openDesk({ holdFor: seconds(10) })
  const first = await held(desk, 100n)
  desk.clock.advance(seconds(10))
  await held(desk, 100n)
  desk.clock.advance(millis(-10_000))
  const third = await held(desk, 100n)
  await desk.spending.settle({ holdId: first, amount: 0n })
  expect((await desk.spending.standing({ from: '0xa1' })).plan?.held).toBe(200n)
  await desk.spending.release({ holdId: third })
  expect((await desk.spending.standing({ from: '0xa1' })).plan?.held).toBe(100n)
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('many open holds end on a grid, a little sooner and never later, and still end one by one', async () => {
  const desk = openDesk({
    total: 'unlimited',
    tiers: { BASIC: 'unlimited', EXTENDED: 0n, PRIVILEGED: 0n },
  })
  const many = MAX_FINE_HOLDS + 20
  const ids: string[] = []
  for (let i = 0; i < many; i++) {
    const { holdId = '', expiresAt = 0 } = await desk.spending.hold({ from: '0xa1', estimate: 1n })
    ids.push(holdId)
    const life = expiresAt - desk.clock()
    if (i < MAX_FINE_HOLDS) expect(life).toBe(seconds(180))
    else expect(life).toBeLessThanOrEqual(seconds(180))
    expect(life).toBeGreaterThan(seconds(180) * (15 / 16))
    desk.clock.advance(millis(1))
  }
  expect((await desk.spending.standing({ from: '0xa1' })).total?.held).toBe(BigInt(many))
  expect((await desk.spending.verify()).findings).toEqual([])
  for (const holdId of ids.slice(-10)) await desk.spending.settle({ holdId, amount: 1n })
  expect((await desk.spending.standing({ from: '0xa1' })).total).toMatchObject({
    spent: 10n,
    held: BigInt(many - 10),
  })
  desk.clock.advance(seconds(181))
  const late = await desk.spending.settle({ holdId: ids[MAX_FINE_HOLDS] ?? '', amount: 1n })
  expect(late.late).toBe(true)
  expect((await desk.spending.verify()).findings).toEqual([])
  expect((await desk.spending.standing({ from: '0xa1' })).total?.held).toBe(0n)
  expect((await desk.spending.verify()).findings).toEqual([])
})
