/** Grants: what a plan may spend beyond its allowance, once. */
import { describe, expect, test } from 'vitest'
import { codeOf, type Desk, openDesk, plansOf } from '../../../test/support/ledger-desk.ts'
import { days, hours, instant, seconds } from '../../core/time.ts'
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

  test('go to any plan, also to one that was never created', async () => {
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

describe('a hold beyond the allowance', () => {
  const held = async (desk: Desk, estimate: bigint) => {
    const answer = await desk.spending.hold({ from: '0xa1', estimate })
    return { allowed: answer.allowed, holdId: answer.holdId ?? '' }
  }
  const settle = (desk: Desk, holdId: string, amount: bigint) =>
    desk.spending.settle({ holdId, amount })
  const entriesOf = async (desk: Desk) => (await desk.spending.history('alpha')).entries

  test('reserves the grant: it is spent once, however many windows turn meanwhile', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 1_000n })
    const granted: bigint[] = []
    const holds: string[] = []
    for (let turn = 0; turn < 4; turn++) {
      for (const estimate of [1_500n, 500n]) {
        const { allowed, holdId } = await held(desk, estimate)
        if (!allowed) continue
        granted.push(estimate)
        holds.push(holdId)
      }
      await desk.spending.resetWindow()
    }
    expect(granted).toEqual([1_500n, 500n, 500n, 500n])
    for (const [i, holdId] of holds.entries()) await settle(desk, holdId, granted[i] ?? 0n)
    const { windows } = await desk.spending.usage('alpha')
    expect(windows.reduce((sum, { spent }) => sum + spent, 0n)).toBe(3_000n)
    expect(await remaining(desk)).toBe(500n)
  })

  test('reserves the grant across midnight', async () => {
    const desk = opened({
      start: '2026-01-01T23:59:00Z',
      plans: [{ ...ALPHA, limit: '100' }],
    })
    await desk.spending.grant({ plan: 'alpha', amount: 100n })
    const first = await held(desk, 200n)
    desk.clock.advance(seconds(90))
    expect((await held(desk, 200n)).allowed).toBe(false)
    expect(await remaining(desk)).toBe(100n)
    const second = await held(desk, 100n)
    await settle(desk, first.holdId, 200n)
    await settle(desk, second.holdId, 100n)
    expect(await remaining(desk)).toBe(0n)
    const { windows } = await desk.spending.usage('alpha')
    expect(windows.map(({ spent }) => spent)).toEqual([200n, 100n])
  })

  test('says in its entry how much of which grant it pins, in the order of use', async () => {
    const desk = opened()
    const late = (await desk.spending.grant({ plan: 'alpha', amount: 60n, priority: 2 })).grantId
    const soon = (await desk.spending.grant({ plan: 'alpha', amount: 40n, priority: 1 })).grantId
    const { holdId } = await held(desk, 580n)
    expect((await entriesOf(desk)).at(-1)).toMatchObject({
      kind: 'hold',
      pins: [
        { grant: soon, amount: 40n },
        { grant: late, amount: 40n },
      ],
    })
    await desk.spending.capture({ holdId, amount: 510n })
    expect((await entriesOf(desk)).at(-1)).toMatchObject({
      pins: [{ grant: soon, amount: 10n }],
      draws: [{ grant: soon, amount: 10n }],
    })
    await desk.spending.release({ holdId })
    expect((await entriesOf(desk)).at(-1)).toMatchObject({
      kind: 'release',
      pins: [
        { grant: soon, amount: 30n },
        { grant: late, amount: 40n },
      ],
    })
    expect(await remaining(desk)).toBe(90n)
  })

  test('that expires frees what it had pinned, by itself', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 200n })
    await held(desk, 700n)
    expect(await remaining(desk)).toBe(0n)
    desk.clock.advance(seconds(180))
    expect(await remaining(desk)).toBe(700n)
  })

  test('is honoured though the grant expires while it is open, and is forfeited on release', async () => {
    const desk = opened()
    const expiresAt = instant(desk.clock() + seconds(60))
    const { grantId } = await desk.spending.grant({ plan: 'alpha', amount: 200n, expiresAt })
    const { holdId } = await held(desk, 700n)
    desk.clock.advance(seconds(90))
    expect(await desk.spending.capture({ holdId, amount: 620n })).toMatchObject({
      charged: 620n,
      overage: 0n,
      plan: { spent: 620n, held: 80n, remaining: 0n },
    })
    await desk.spending.release({ holdId })
    const [released, forfeited] = (await entriesOf(desk)).slice(-2)
    expect(released).toMatchObject({ kind: 'release', moves: [{ amount: 80n }] })
    expect(released?.pins).toBeUndefined()
    expect(forfeited).toMatchObject({
      kind: 'forfeit',
      hold: holdId.split('~')[0],
      moves: [{ from: 'granted', to: 'forfeited', amount: 80n }],
      pins: [{ grant: grantId, amount: 80n }],
    })
    expect(await remaining(desk)).toBe(0n)
    desk.clock.advance(days(1))
    expect(await remaining(desk)).toBe(500n)
    expect((await desk.spending.verify()).findings).toEqual([])
  })

  test('draws what goes beyond it from grants that are free, never from what another pinned', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 100n })
    const first = await held(desk, 550n)
    const second = await held(desk, 50n)
    expect(await settle(desk, second.holdId, 80n)).toMatchObject({ overage: 30n })
    expect((await entriesOf(desk)).findLast(({ kind }) => kind === 'settle')).toMatchObject({
      draws: [{ amount: 50n }],
      owed: 30n,
    })
    expect(await settle(desk, first.holdId, 550n)).toMatchObject({
      overage: 0n,
      plan: { remaining: -30n },
    })
  })
})

describe('a limit that is changed', () => {
  const withLimit = (desk: Desk, limit: string) => {
    desk.plans = plansOf({ ...ALPHA, limit })
  }

  test('burns no grants: what was spent under the higher limit stays paid by it', async () => {
    const desk = opened({ plans: [{ ...ALPHA, limit: '500' }] })
    await desk.spending.grant({ plan: 'alpha', amount: 400n })
    await spend(desk, 400n)
    withLimit(desk, '100')
    expect(await remaining(desk)).toBe(400n)
    await spend(desk, 1n)
    expect(await drawsOf(desk)).toMatchObject([{ amount: 1n }])
    withLimit(desk, '500')
    expect(await remaining(desk)).toBe(499n)
  })
})

describe('what is recorded', () => {
  test('beyond limit and grants is flagged, and its entry says how much', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 50n })
    expect(await spend(desk, 600n)).toMatchObject({ charged: 600n, overage: 50n })
    expect((await desk.spending.history('alpha')).entries.at(-1)).toMatchObject({
      flags: ['overage'],
      draws: [{ amount: 50n }],
      owed: 50n,
    })
  })

  test('leaves to open holds what they keep aside', async () => {
    const desk = opened()
    await desk.spending.grant({ plan: 'alpha', amount: 100n })
    const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 450n })
    expect(await spend(desk, 80n)).toMatchObject({ overage: 0n, plan: { remaining: 70n } })
    expect(await drawsOf(desk)).toMatchObject([{ amount: 30n }])
    await desk.spending.settle({ holdId, amount: 450n })
    expect(await remaining(desk)).toBe(70n)
  })
})

describe('a grant under an operation id', () => {
  test('is given once, whatever a retry says of its expiry', async () => {
    const desk = opened()
    const ask = { plan: 'alpha', amount: 100n, operationId: 'fair-1', actor: 'ops' }
    const later = (length = hours(1)) => instant(desk.clock() + length)
    const first = await desk.spending.grant({ ...ask, expiresAt: later() })
    desk.clock.advance(seconds(5))
    const again = await desk.spending.grant({ ...ask, expiresAt: later() })
    expect(again).toEqual({ ...first, replayed: true })
    expect(await remaining(desk)).toBe(600n)
    expect(await desk.spending.grants('alpha')).toHaveLength(1)
  })

  test('is given once to retries that come together', async () => {
    const desk = opened()
    const ask = { plan: 'basic:0xB1', amount: 7n, operationId: 'fair-1' }
    const answers = await Promise.all(
      ['basic:0xB1', 'basic:0xb1', 'basic:0xB1'].map((plan) =>
        desk.spending.grant({ ...ask, plan }),
      ),
    )
    expect(new Set(answers.map(({ grantId }) => grantId)).size).toBe(1)
  })

  test('cannot be given again as another', async () => {
    const desk = opened()
    const ask = { plan: 'alpha', amount: 100n, operationId: 'fair-1' }
    await desk.spending.grant(ask)
    const other = (change: object) => codeOf(desk.spending.grant({ ...ask, ...change }))
    expect(await other({ amount: 101n })).toBe('OPERATION_ID_REUSED')
    expect(await other({ plan: 'basic:0xb1' })).toBe('OPERATION_ID_REUSED')
    expect(await other({ priority: 1 })).toBe('OPERATION_ID_REUSED')
  })
})

describe('the list of grants', () => {
  test('has those that can still be used, in the order of use, with who gave them and why', async () => {
    const desk = opened()
    const { grant } = desk.spending
    await grant({ plan: 'alpha', amount: 10n, reason: 'used up first' })
    await grant({ plan: 'alpha', amount: 50n, priority: 2, reason: 'a fair', actor: 'ann' })
    await grant({ plan: 'alpha', amount: 40n, priority: 1, actor: 'bob' })
    await spend(desk, 530n)
    await desk.spending.hold({ from: '0xa1', estimate: 25n })
    expect(await desk.spending.grants('alpha')).toMatchObject([
      { amount: 40n, spent: 20n, pinned: 20n, left: 0n, priority: 1, actor: 'bob' },
      { amount: 50n, spent: 0n, pinned: 5n, left: 45n, reason: 'a fair', actor: 'ann' },
    ])
    expect(await codeOf(desk.spending.grants('nobody'))).toBe('PLAN_NOT_FOUND')
  })
})

describe('a grant that is voided', () => {
  const given = async (amount = 100n) => {
    const desk = opened()
    const { grantId } = await desk.spending.grant({ plan: 'alpha', amount })
    const ask = { plan: 'alpha', grant: grantId, reason: 'a slip', actor: 'ann' }
    return { ...desk, desk, ask }
  }

  test('leaves what was spent of it, and the ledger says who and why', async () => {
    const { desk, ask } = await given()
    await spend(desk, 530n)
    expect(await desk.spending.voidGrant(ask)).toMatchObject({
      voided: 70n,
      pinned: 0n,
      plan: { spent: 530n, remaining: 0n },
    })
    expect((await desk.spending.history('alpha')).entries.at(-1)).toMatchObject({
      kind: 'void',
      grant: ask.grant,
      moves: [{ from: 'granted', to: 'forfeited', amount: 70n }],
      detail: 'a slip',
      note: { actor: 'ann' },
    })
    expect(await desk.spending.grants('alpha')).toEqual([])
    expect((await desk.spending.hold({ from: '0xa1', estimate: 1n })).reason).toBe('PLAN_LIMIT')
    expect(await desk.spending.verify()).toMatchObject({ findings: [] })
  })

  test('stays with the holds that pinned it, which forfeit what they give back', async () => {
    const { desk, ask } = await given()
    const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 560n })
    expect(await desk.spending.voidGrant(ask)).toMatchObject({ voided: 40n, pinned: 60n })
    expect(await desk.spending.grants('alpha')).toMatchObject([{ left: 0n, pinned: 60n }])
    const settled = await desk.spending.settle({ holdId, amount: 520n })
    expect(settled).toMatchObject({ overage: 0n, plan: { spent: 520n, remaining: 0n } })
    expect((await desk.spending.history('alpha')).entries.at(-1)).toMatchObject({
      kind: 'forfeit',
      moves: [{ amount: 40n }],
    })
    expect(await desk.spending.verify()).toMatchObject({ findings: [] })
  })

  test('is voided once', async () => {
    const { desk, ask } = await given()
    const { voidGrant } = desk.spending
    const first = await voidGrant({ ...ask, operationId: 'void-1' })
    expect(await voidGrant({ ...ask, operationId: 'void-1' })).toEqual({ ...first, replayed: true })
    expect(await codeOf(voidGrant(ask))).toBe('GRANT_NOT_FOUND')
  })

  test('is one of this plan', async () => {
    const { desk, ask } = await given()
    expect(await codeOf(desk.spending.voidGrant({ ...ask, plan: 'basic:0xb1' }))).toBe(
      'GRANT_NOT_FOUND',
    )
    expect(await codeOf(desk.spending.voidGrant({ ...ask, grant: 'x' }))).toBe('GRANT_NOT_FOUND')
    const reason = 'x'.repeat(300)
    expect(await codeOf(desk.spending.voidGrant({ ...ask, reason }))).toBe('NOTE_INVALID')
    expect(await remaining(desk)).toBe(600n)
  })
})

test('the grants of a plan that left the file are listed, and can be voided', async () => {
  const plan = { id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }
  const desk = openDesk({ plans: [plan] })
  const { grantId } = await desk.spending.grant({ plan: 'alpha', amount: 50n })
  desk.plans = plansOf()
  expect(await desk.spending.grants('alpha')).toMatchObject([{ id: grantId, left: 50n }])
  const ask = { plan: 'alpha', grant: grantId, reason: 'it left' }
  expect(await desk.spending.voidGrant(ask)).toMatchObject({ voided: 50n })
  expect(await codeOf(desk.spending.grants('nobody'))).toBe('PLAN_NOT_FOUND')
  desk.plans = plansOf(plan)
  expect(await desk.spending.plan('alpha')).toMatchObject({ remaining: 500n })
  expect((await desk.spending.verify()).findings).toEqual([])
})
