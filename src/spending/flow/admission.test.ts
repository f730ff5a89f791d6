/** One admission: who binds, what is left, when to try again, and what callers may ask. */

import { describe, expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'
import { StoreError } from '../../core/errors.ts'
import { hours, minutes, seconds } from '../../core/time.ts'
import { createSpending, NO_PLANS } from '../index.ts'

describe('a refusal', () => {
  test('names the first budget that does not cover it, and waits for the window to end', async () => {
    const { spending } = openDesk()
    await spending.record({ from: '0xa1', amount: 300n })
    expect(await spending.check({ from: '0xa1' })).toMatchObject({
      allowed: false,
      reason: 'PLAN_LIMIT',
      budget: 'plan/basic:0xa1',
      retryIn: hours(14),
      plan: { spent: 300n, remaining: 0n },
    })
  })

  test('waits no longer than for holds that will have ended', async () => {
    const desk = openDesk()
    await desk.spending.hold({ from: '0xa1', estimate: 100n })
    desk.clock.advance(seconds(60))
    await desk.spending.hold({ from: '0xa1', estimate: 200n })
    const wait = async (estimate: bigint) =>
      (await desk.spending.check({ from: '0xa1', estimate })).retryIn
    expect([await wait(100n), await wait(101n), await wait(301n)]).toEqual([
      seconds(120),
      seconds(180),
      'never',
    ])
  })

  test('by the balance waits until the reading is too old to count', async () => {
    const desk = openDesk()
    await desk.spending.pushBalance(10n)
    desk.clock.advance(minutes(4))
    expect(await desk.spending.check({ estimate: 11n })).toMatchObject({
      reason: 'OPERATOR_BALANCE',
      budget: 'outflow',
      retryIn: minutes(6),
      plan: null,
    })
  })

  test('by a store that is down is an answer too, and is observed', async () => {
    const desk = openDesk()
    const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
    const events: string[] = []
    const spending = createSpending({
      store: { ...desk.store, transact: () => Promise.reject(error) },
      settings: () => desk.settings,
      plans: () => NO_PLANS,
      observe: ({ kind }) => events.push(kind),
    })
    expect(await spending.hold({ from: '0xa1', estimate: 1n })).toMatchObject({
      allowed: false,
      reason: 'STORE_UNAVAILABLE',
      plan: null,
      total: null,
    })
    expect(events).toEqual(['store-failure', 'admission'])
    expect(await codeOf(spending.record({ amount: 1n }))).toBe('STORE_UNAVAILABLE')
  })
})

describe('the operator balance', () => {
  test('falls by what was paid and held since it was read, in whatever window', async () => {
    const desk = openDesk({ start: '2026-01-01T23:59:00Z', operator: OPERATOR })
    await desk.spending.record({ from: '0xa1', amount: 100n })
    await desk.spending.pushBalance(300n)
    await desk.spending.record({ from: '0xa1', amount: 100n })
    expect((await desk.spending.hold({ from: '0xb1', estimate: 100n })).allowed).toBe(true)
    desk.clock.advance(minutes(2))
    const fits = async (estimate: bigint) => (await desk.spending.check({ estimate })).reason
    expect([await fits(50n), await fits(51n)]).toEqual([null, 'OPERATOR_BALANCE'])
  })

  test('is never replaced by an older reading', async () => {
    const desk = openDesk()
    const early = desk.clock()
    desk.clock.advance(seconds(10))
    await desk.spending.pushBalance(100n)
    expect(await desk.spending.pushBalance(900n, early)).toMatchObject({ amount: 100n })
    expect((await desk.spending.check({ estimate: 101n })).reason).toBe('OPERATOR_BALANCE')
  })

  test('that was never read is like one that was read too long ago', async () => {
    const ignoring = openDesk({ operator: OPERATOR })
    expect((await ignoring.spending.check({ estimate: 1n })).allowed).toBe(true)
    const denying = openDesk({ operator: { ...OPERATOR, stale: 'deny' } })
    const { reason } = await denying.spending.check({ estimate: 1n })
    expect(reason).toBe('OPERATOR_BALANCE_STALE')
    await denying.spending.pushBalance(300n)
    expect((await denying.spending.check({ estimate: 1n })).allowed).toBe(true)
  })

  const OPERATOR = { minBalance: 50n, maxAge: minutes(10), stale: 'ignore' } as const
})

describe('callers behind one IP', () => {
  test('share a ceiling by the /64 that their network has', async () => {
    const { spending } = openDesk({ ipCeiling: 400n })
    await spending.record({ from: '0xa1', ip: '2001:db8::1', amount: 300n })
    await spending.record({ from: '0xa2', ip: '2001:db8::2', amount: 100n })
    const ask = (ip: string) => spending.check({ from: '0xa3', ip, estimate: 1n })
    expect(await ask('2001:db8:0:0:ffff::')).toMatchObject({
      reason: 'IP_LIMIT',
      budget: 'ip/2001:db8::/64',
    })
    expect((await ask('2001:db8:0:1::1')).allowed).toBe(true)
  })

  test('do not count against it with a plan of their own', async () => {
    const plans = [{ id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }]
    const { spending } = openDesk({ ipCeiling: 400n, plans })
    await spending.record({ from: '0xa1', ip: '10.0.0.1', amount: 400n })
    expect((await spending.check({ from: '0xa2', ip: '10.0.0.1' })).allowed).toBe(true)
  })

  test('are one user each where only the IP is known', async () => {
    const { spending } = openDesk()
    const { plan } = await spending.record({ ip: '2001:db8::1', amount: 300n })
    expect(plan?.id).toBe('basic:2001:db8::/64')
  })
})

describe('BASIC plans linked to IPs', () => {
  test('stay with the address that came from there first, also elsewhere', async () => {
    const { spending } = openDesk({ linkIp: true })
    await spending.record({ from: '0xa1', ip: '10.0.0.1', amount: 100n })
    await spending.hold({ from: '0xa2', ip: '10.0.0.1', estimate: 50n })
    const elsewhere = await spending.standing({ from: '0xa2', ip: '10.0.0.2' })
    expect(elsewhere.plan).toMatchObject({ id: 'basic:0xa1', spent: 100n, held: 50n })
  })

  test('are each for themselves again when the switch is off', async () => {
    const desk = openDesk({ linkIp: true })
    await desk.spending.record({ from: '0xa1', ip: '10.0.0.1', amount: 100n })
    await desk.spending.record({ from: '0xa2', ip: '10.0.0.1', amount: 100n })
    desk.settings = { ...desk.settings, linkIp: false }
    const { plan } = await desk.spending.standing({ from: '0xa2', ip: '10.0.0.1' })
    expect(plan).toMatchObject({ id: 'basic:0xa2', spent: 0n })
  })

  test('link no caller by asking', async () => {
    const { spending, store } = openDesk({ linkIp: true })
    await spending.check({ from: '0xa1', ip: '10.0.0.1' })
    expect(await everything(store)).toEqual([])
  })
})

describe('spending that is off', () => {
  test('allows everything, holds nothing and counts nothing', async () => {
    const { spending, store } = openDesk({ total: 0n })
    expect(spending.isEnabled()).toBe(false)
    const answer = await spending.hold({ from: '0xa1', estimate: 5_000n })
    expect(answer).toMatchObject({ allowed: true, plan: null })
    expect(answer.holdId).toBeUndefined()
    expect(await spending.record({ from: '0xa1', amount: 5n })).toMatchObject({ charged: 0n })
    expect(await spending.standing({ from: '0xa1' })).toMatchObject({ plan: null })
    expect(await everything(store)).toEqual([])
  })
})

describe('a caller’s mistake', () => {
  const { check, record } = {
    check: (ask: object) => codeOf(openDesk().spending.check(ask)),
    record: (ask: object) => codeOf(openDesk().spending.record({ amount: 1n, ...ask })),
  }

  test.each([
    ['an address that is none', { from: 'alice' }, 'ADDRESS_INVALID'],
    ['an address that is empty, which would leave the plan out', { from: '' }, 'ADDRESS_INVALID'],
    ['an IP that is none', { ip: '10.0.0.256' }, 'IP_INVALID'],
    ['an IP that is empty', { ip: '' }, 'IP_INVALID'],
    ['an operation with a slash', { operation: 'File/Append' }, 'OPERATION_INVALID'],
  ])('is %s', async (_, ask, code) => {
    expect([await check(ask), await record(ask)]).toEqual([code, code])
  })

  test('is a negative amount, and a note that is a document', async () => {
    expect(await check({ estimate: -1n })).toBe('AMOUNT_INVALID')
    expect(await record({ amount: -1n })).toBe('AMOUNT_INVALID')
    expect(await record({ requestId: 'x'.repeat(257) })).toBe('NOTE_INVALID')
    expect(await record({ caller: 'a\u0000b' })).toBe('NOTE_INVALID')
  })

  test('is a payer that could leave its braces', async () => {
    const { spending } = openDesk({ payer: 'a}/b' })
    expect(await codeOf(spending.check({}))).toBe('PAYER_INVALID')
  })

  test('says the thing, the rule and the finding', async () => {
    const { spending } = openDesk()
    await expect(spending.check({ ip: 'home' })).rejects.toThrow(
      'ip: must be an IPv4 address in four decimal parts, or an IPv6 address without zone, found "home"',
    )
  })
})

test('two payers on one store know nothing of each other', async () => {
  const desk = openDesk()
  const other = createSpending({
    store: desk.store,
    settings: () => ({ ...desk.settings, payer: '0.0.3' }),
    plans: () => NO_PLANS,
  })
  await desk.spending.record({ from: '0xa1', amount: 300n })
  expect(await other.check({ from: '0xa1', estimate: 300n })).toMatchObject({
    allowed: true,
    total: { spent: 0n },
  })
})
