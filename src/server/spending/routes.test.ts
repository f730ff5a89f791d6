import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { spendingServer } from '../../../test/support/spending-server.ts'
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { hours } from '../../core/time.ts'

describe('check and hold', () => {
  test('answer with the plan, the total and the window, amounts as text', async () => {
    const { post } = await spendingServer()
    const ask = { from: '0xb2', estimate: '120', operation: 'FileCreateTransaction' }
    const { status, body } = await post('/v1/spending/check', ask)
    expect(status).toBe(200)
    expect(body).toEqual({
      allowed: true,
      reason: null,
      budget: null,
      retryAfterMs: 0,
      plan: {
        id: 'basic:0xb2',
        tier: 'BASIC',
        limit: '300',
        spent: '0',
        held: '0',
        remaining: '300',
      },
      total: { limit: '1000', spent: '0', held: '0', remaining: '1000' },
      window: { startsAt: '2024-01-01T00:00:00.000000Z', endsAt: '2024-01-02T00:00:00.000000Z' },
    })
  })

  test('a hold has an id and an end, and is seen by the next question', async () => {
    const { post } = await spendingServer()
    const { body } = await post('/v1/spending/hold', { from: '0xb2', estimate: '300' })
    expect(body).toMatchObject({ allowed: true, plan: { held: '300', remaining: '0' } })
    expect(body.holdId).toEqual(expect.any(String))
    expect(body.expiresAt).toBe('2024-01-01T00:03:00.000000Z')
    const refused = await post('/v1/spending/hold', { from: '0xB2', estimate: '1' })
    expect(refused.status).toBe(200)
    expect(refused.body).toMatchObject({
      allowed: false,
      reason: 'PLAN_LIMIT',
      budget: 'plan/basic:0xb2',
    })
    expect(refused.headers['retry-after']).toBe(
      String(Math.ceil(refused.body.retryAfterMs / 1_000)),
    )
  })

  test('the same operation id holds once; for another question it is a conflict', async () => {
    const { post } = await spendingServer()
    const ask = { from: '0xb2', estimate: '100', operationId: 'tx-1' }
    const first = await post('/v1/spending/hold', ask)
    const again = await post('/v1/spending/hold', ask)
    expect(again.body).toEqual({ ...first.body, replayed: true })
    const other = await post('/v1/spending/hold', { ...ask, estimate: '99' })
    expect([other.status, other.body.code]).toEqual([409, 'HOLD_CONFLICT'])
  })
})

describe('the end of a hold', () => {
  const held = async () => {
    const server = await spendingServer()
    const { body } = await server.post('/v1/spending/hold', { from: '0xa1', estimate: '400' })
    return { ...server, holdId: String(body.holdId) }
  }

  test('captures charge part, a settlement without an amount ends at their sum', async () => {
    const { post, holdId } = await held()
    const part = await post('/v1/spending/capture', { holdId, amount: '150', operationId: 'fee-1' })
    expect(part.body).toMatchObject({
      allowed: true,
      charged: '150',
      plan: { id: 'partner', spent: '150', held: '250' },
    })
    const end = await post('/v1/spending/settle', { holdId })
    expect(end.body).toMatchObject({ charged: '0', released: '250', plan: { spent: '150' } })
    expect((await post('/v1/spending/settle', { holdId })).body).toMatchObject({ replayed: true })
  })

  test('more than was held is charged and told', async () => {
    const { post, holdId } = await held()
    const { body } = await post('/v1/spending/settle', { holdId, amount: '450' })
    expect(body).toMatchObject({ charged: '450', overage: '50', late: false })
  })

  test('after its lifetime a settlement is late, and booked in its window', async () => {
    const { post, holdId, clock } = await held()
    clock.advance(hours(25))
    const { body } = await post('/v1/spending/settle', { holdId, amount: '10' })
    expect(body).toMatchObject({
      late: true,
      charged: '10',
      window: { startsAt: '2024-01-01T00:00:00.000000Z' },
    })
  })

  test('a release gives it all back; a hold that nobody knows is 404', async () => {
    const { post, holdId } = await held()
    expect((await post('/v1/spending/release', { holdId })).body).toMatchObject({ released: '400' })
    const closed = await post('/v1/spending/capture', { holdId, amount: '1' })
    expect([closed.status, closed.body.code]).toEqual([409, 'HOLD_CLOSED'])
    const unknown = await post('/v1/spending/settle', { holdId: 'nobody-gave-this' })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'HOLD_NOT_FOUND'])
  })
})

describe('amounts', () => {
  const record = async (amount: unknown) => {
    const { app } = await spendingServer()
    const payload = `{"from":"0xb2","amount":${String(amount)}}`
    const headers = { 'content-type': 'application/json' }
    const reply = await app.inject({ method: 'POST', url: '/v1/spending/record', payload, headers })
    return { status: reply.statusCode, body: reply.json() }
  }

  test('are text of any size, or a number that is exact', async () => {
    expect((await record('"9007199254740993"')).body).toMatchObject({
      charged: '9007199254740993',
      total: { remaining: '-9007199254739993' },
    })
    expect((await record('7')).body).toMatchObject({ charged: '7' })
  })

  test.each(['9007199254740993', '1.5', '-1', '"-1"', '"1.5"', '"1e3"', '""', '1e300'])(
    '%s is refused',
    async (amount) => {
      const { status, body } = await record(amount)
      expect([status, body.code]).toEqual([400, 'AMOUNT_INVALID'])
    },
  )

  test.each(['null', 'true', '[]'])('%s is not even a wrong one', async (amount) => {
    const { status, body } = await record(amount)
    expect([status, body.code]).toEqual([400, 'BODY_INVALID'])
  })
})

describe('the queue', () => {
  const section = `{ total: 1000, tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }, queueFile: fees.queue }`

  test('takes what the caller does not want to wait for, and books it once', async () => {
    const { post, service } = await spendingServer({ section, serving: true })
    const expense = { from: '0xb2', amount: '40', operationId: 'fee-1', queue: true }
    const replies = [
      await post('/v1/spending/record', expense),
      await post('/v1/spending/record', expense),
    ]
    for (const { status, body } of replies) {
      expect([status, body]).toEqual([202, { queued: true, operationId: 'fee-1' }])
    }
    await service.queue?.drained()
    expect(await service.spending.plan('basic:0xb2')).toMatchObject({ spent: 40n })
  })

  test('takes what the store does not, and books it when the store is back', async () => {
    const down = { now: false }
    const wrap = (store: Store): Store => ({
      ...store,
      transact: (step, guess) =>
        down.now
          ? Promise.reject(new StoreError({ code: 'STORE_UNAVAILABLE', thing: 's', rule: 'r' }))
          : store.transact(step, guess),
    })
    const { post, service } = await spendingServer({ section, serving: true, wrap })
    down.now = true
    const { status, body } = await post('/v1/spending/record', { from: '0xb2', amount: '40' })
    expect([status, body]).toEqual([202, { queued: true, operationId: expect.any(String) }])
    const asked = await post('/v1/spending/hold', { from: '0xb2', estimate: '1' })
    expect(asked.body).toMatchObject({
      allowed: false,
      reason: 'STORE_UNAVAILABLE',
      retryAfterMs: 1_000,
      plan: null,
      total: null,
    })
    down.now = false
    await service.queue?.drained()
    expect(await service.spending.plan('basic:0xb2')).toMatchObject({ spent: 40n })
  })

  test('is not there unless it is configured', async () => {
    const { post } = await spendingServer()
    const { status, body } = await post('/v1/spending/record', { amount: '1', queue: true })
    expect([status, body.code]).toEqual([400, 'QUEUE_OFF'])
  })
})

test('what was spent before the window began is booked in the window of that time, and late', async () => {
  const { post, get } = await spendingServer()
  const at = '2023-12-31T23:59:50Z'
  const { body } = await post('/v1/spending/record', { from: '0xb2', amount: '40', at })
  expect(body).toMatchObject({ charged: '40', late: true })
  expect(JSON.parse((await get('/v1/spending/report')).text)).toMatchObject({ total: '0' })
})

test('a hold lasts as long as it is told, and is extended for the next stretch', async () => {
  const { post } = await spendingServer()
  const ask = { from: 'user:42', estimate: '100', holdFor: '1h' }
  const { body } = await post('/v1/spending/hold', ask)
  expect(body.expiresAt).toBe('2024-01-01T01:00:00.000000Z')
  const { holdId } = body
  const longer = await post('/v1/spending/extend', { holdId, estimate: '50', holdFor: '2h' })
  expect(longer.body).toMatchObject({
    allowed: true,
    expiresAt: '2024-01-01T02:00:00.000000Z',
    plan: { held: '150' },
  })
  const refused = await post('/v1/spending/hold', { ...ask, holdFor: '25h' })
  expect([refused.status, refused.body.code]).toEqual([400, 'HOLD_LIFETIME_INVALID'])
  const typo = await post('/v1/spending/hold', { ...ask, holdFor: 'soon' })
  expect([typo.status, typo.body.code]).toEqual([400, 'BODY_INVALID'])
})

test('a booking is reversed by its operation id, once, with a reason', async () => {
  const { post } = await spendingServer()
  await post('/v1/spending/record', { from: 'user:42', amount: '40', operationId: 'fee-1' })
  const ask = { of: 'fee-1', amount: '30', reason: 'paid twice', operationId: 'back-1' }
  const { status, body } = await post('/v1/spending/reverse', ask)
  expect(status).toBe(200)
  expect(body).toMatchObject({ reversed: '30', left: '10', plan: { spent: '10' } })
  expect((await post('/v1/spending/reverse', ask)).body).toMatchObject({ replayed: true })
  const more = await post('/v1/spending/reverse', { of: 'fee-1', amount: '11', reason: 'x' })
  expect([more.status, more.body.code]).toEqual([409, 'REVERSAL_INVALID'])
  const unknown = await post('/v1/spending/reverse', { of: 'fee-2', reason: 'x' })
  expect([unknown.status, unknown.body.code]).toEqual([404, 'BOOKING_NOT_FOUND'])
})

test('a fraction is no amount, however large the number', async () => {
  const { app, post } = await spendingServer()
  const payload = '{"from":"user:42","amount":9007199254740990.9}'
  const headers = { 'content-type': 'application/json' }
  const reply = await app.inject({ method: 'POST', url: '/v1/spending/record', payload, headers })
  expect(reply.json()).toMatchObject({ code: 'BODY_INVALID', finding: '"9007199254740990.9"' })
  const { body } = await post('/v1/spending/record', { from: 'user:42', amount: 0.5 })
  expect(body).toMatchObject({ code: 'AMOUNT_INVALID' })
  const exact = await post('/v1/spending/record', { from: 'user:42', amount: 9007199254740991 })
  expect(exact.body).toMatchObject({ charged: '9007199254740991' })
})

test('a misspelt field is a mistake, with the nearest name', async () => {
  const { post } = await spendingServer()
  const { status, body } = await post('/v1/spending/hold', { estimat: '5' })
  expect([status, body.code]).toEqual([400, 'BODY_INVALID'])
  expect(body.detail).toContain('did you mean estimate?')
})

test('where nobody spends, every route says so', async () => {
  const { app } = testServer()
  const urls = ['/v1/spending/report', '/v1/plans', '/v1/plans/x', '/v1/spending/verify']
  for (const url of urls) {
    const reply = await app.inject(url)
    expect([reply.statusCode, reply.json().code], url).toEqual([404, 'SPENDING_OFF'])
  }
  const reply = await app.inject({ method: 'POST', url: '/v1/spending/check', payload: {} })
  expect([reply.statusCode, reply.json().code]).toEqual([404, 'SPENDING_OFF'])
})
