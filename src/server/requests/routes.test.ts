import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { seconds } from '../../core/time.ts'

const post = (app: ReturnType<typeof testServer>['app'], url: string, payload: object) =>
  app.inject({ method: 'POST', url, payload })

const KEY = { limit: 'PerKey', id: 'k' }

describe('POST /v1/spend', () => {
  test('allows the burst, then refuses with 200 and says when to come back', async () => {
    const { app } = testServer()
    for (const remaining of [2, 1, 0]) {
      const { statusCode, body } = await post(app, '/v1/spend', KEY)
      expect(statusCode).toBe(200)
      expect(JSON.parse(body)).toMatchObject({ allowed: true, remaining })
    }
    const refused = await post(app, '/v1/spend', KEY)
    expect(refused.statusCode).toBe(200)
    expect(refused.json()).toEqual({
      allowed: false,
      remaining: 0,
      retryAfterMs: 10_000,
      resetAfterMs: 30_000,
      reason: 'RATE_LIMIT',
      message: expect.stringContaining('too many requests (3) for "k" under PerKey'),
      violated: ['PerKey'],
      charges: [
        {
          limit: 'PerKey',
          id: 'k',
          bucket: 'PerKey:k',
          allowed: false,
          remaining: 0,
          retryAfterMs: 10_000,
          resetAfterMs: 30_000,
          reason: 'RATE_LIMIT',
          message: expect.stringContaining('retry after 2024-01-01 00:00:10 UTC'),
          source: 'default',
        },
      ],
    })
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': '"PerKey";q=3;w=30',
      ratelimit: '"PerKey";r=0;t=10',
      'retry-after': '10',
      'cache-control': 'no-store',
    })
  })

  test('someone exactly as patient as told is allowed', async () => {
    const { app, clock } = testServer()
    await post(app, '/v1/spend', { ...KEY, cost: 3 })
    const refused = await post(app, '/v1/spend', KEY)
    clock.advance(seconds(Number(refused.headers['retry-after'])))
    expect((await post(app, '/v1/spend', KEY)).json()).toMatchObject({ allowed: true })
  })

  test('charges several limits all or nothing, and shows a header item for each', async () => {
    const { app } = testServer()
    const charges = [KEY, { limit: 'PerAddress', id: '10.0.0.1' }]
    const allowed = await post(app, '/v1/spend', { charges })
    expect(allowed.json()).toMatchObject({ allowed: true, remaining: 2 })
    expect(allowed.headers['ratelimit-policy']).toBe('"PerKey";q=3;w=30, "PerAddress";q=5;w=60')
    expect(allowed.headers['ratelimit']).toBe('"PerKey";r=2;t=10, "PerAddress";r=4;t=12')
    await post(app, '/v1/spend', { ...KEY, cost: 2 })
    const refused = await post(app, '/v1/spend', { charges })
    expect(refused.json()).toMatchObject({ allowed: false, violated: ['PerKey'] })
    const left = await post(app, '/v1/check', { limit: 'PerAddress', id: '10.0.0.1', cost: 0 })
    expect(left.json()).toMatchObject({ remaining: 4 })
  })

  test('builds the id from parts', async () => {
    const { app } = testServer()
    const body = { limit: 'NewOrdersPerAccount', parts: { regId: 12345678 } }
    expect((await post(app, '/v1/spend', body)).json()).toMatchObject({
      remaining: 299,
      charges: [{ id: '12345678', bucket: '3:12345678', source: 'default' }],
    })
  })

  test('a limit that is not in force allows, has no end, and shows no header', async () => {
    const { app } = testServer()
    const { headers, ...reply } = await post(app, '/v1/spend', { limit: 'OnlyOverrides', id: 'a' })
    expect(reply.json()).toMatchObject({
      allowed: true,
      remaining: null,
      reason: 'DISABLED',
      charges: [{ source: 'disabled' }],
    })
    expect(headers).not.toHaveProperty('ratelimit')
    expect(headers).not.toHaveProperty('ratelimit-policy')
  })

  test('the same operation id again changes nothing and says so', async () => {
    const { app } = testServer()
    const body = { ...KEY, operationId: 'op-1' }
    const first = await post(app, '/v1/spend', body)
    const second = await post(app, '/v1/spend', body)
    expect(second.json()).toEqual({ ...first.json(), replayed: true })
    const other = await post(app, '/v1/spend', { ...body, cost: 2 })
    expect(other.statusCode).toBe(409)
    expect(other.json()).toMatchObject({ code: 'OPERATION_ID_REUSED', status: 409 })
  })

  test('points to help where the operator has a page', async () => {
    const { app } = testServer({ settings: { helpLink: 'https://example.org/limits' } })
    await post(app, '/v1/spend', { limit: 'NewOrdersPerAccount', id: '77', cost: 2 })
    const refused = await post(app, '/v1/spend', { limit: 'NewOrdersPerAccount', id: '77' })
    expect(refused.headers.link).toBe('<https://example.org/limits>; rel="help"')
    expect(refused.json().message).toMatch(
      /: see https:\/\/example.org\/limits#new-orders-per-account$/,
    )
  })
})

describe('POST /v1/check', () => {
  test('answers as a spend would and charges nothing', async () => {
    const { app } = testServer()
    for (let i = 0; i < 5; i++) {
      expect((await post(app, '/v1/check', KEY)).json()).toMatchObject({
        allowed: true,
        remaining: 2,
      })
    }
  })

  test('has no use for an operation id', async () => {
    const { app } = testServer()
    const reply = await post(app, '/v1/check', { ...KEY, operationId: 'a' })
    expect(reply.json()).toMatchObject({ code: 'BODY_INVALID', thing: 'operationId' })
  })
})

describe('POST /v1/refund', () => {
  test('gives back what an operation charged, without repeating what that was', async () => {
    const { app } = testServer()
    await post(app, '/v1/spend', { ...KEY, cost: 3, operationId: 'op' })
    expect((await post(app, '/v1/refund', { operationId: 'op' })).json()).toMatchObject({
      allowed: true,
      remaining: 3,
    })
  })

  test('an unknown operation is 404', async () => {
    const { app } = testServer()
    const reply = await post(app, '/v1/refund', { operationId: 'never' })
    expect(reply.statusCode).toBe(404)
    expect(reply.json()).toMatchObject({ code: 'OPERATION_UNKNOWN' })
  })

  test('a full bucket has nothing to give back, and waiting would not help', async () => {
    const { app } = testServer()
    const reply = await post(app, '/v1/refund', KEY)
    expect(reply.json()).toMatchObject({ allowed: false, reason: 'NOTHING_TO_RETURN' })
    expect(reply.json()).not.toHaveProperty('message')
    expect(reply.headers).not.toHaveProperty('retry-after')
  })
})

test('POST /v1/reset fills the bucket', async () => {
  const { app } = testServer()
  await post(app, '/v1/spend', { ...KEY, cost: 3 })
  expect((await post(app, '/v1/reset', KEY)).json()).toMatchObject({ allowed: true, remaining: 3 })
  expect((await post(app, '/v1/check', KEY)).json()).toMatchObject({ remaining: 2 })
})

describe('a wrong body is told what is wrong, by name', () => {
  const wrong: readonly [string, object, object][] = [
    [
      'a misspelt field',
      { ...KEY, cots: 2 },
      { code: 'BODY_INVALID', thing: 'cots', rule: expect.stringContaining('cost') },
    ],
    [
      'a misspelt field in a charge',
      { charges: [KEY, { ...KEY, cots: 2 }] },
      { thing: 'charges[1].cots' },
    ],
    [
      'text for a number',
      { ...KEY, cost: '2' },
      { thing: 'cost', rule: 'must be integer', finding: '"2"' },
    ],
    ['half a token', { ...KEY, cost: 0.5 }, { thing: 'cost', finding: '0.5' }],
    [
      'less than nothing',
      { ...KEY, cost: -1 },
      { thing: 'cost', rule: 'must be >= 0', finding: '-1' },
    ],
    [
      'an unknown mode',
      { ...KEY, mode: 'take' },
      { thing: 'mode', rule: 'must be one of spend, check, try', finding: '"take"' },
    ],
    [
      'a list for a body',
      [KEY],
      { thing: 'the body', rule: 'must be object', finding: 'a list of 1' },
    ],
    ['one charge beside several', { ...KEY, charges: [KEY] }, { thing: 'limit' }],
    [
      'a cost beside charges',
      { cost: 1, charges: [KEY] },
      { thing: 'cost', rule: 'must stand inside charges' },
    ],
    ['an id without a limit', { id: 'k' }, { thing: 'id', rule: 'needs a limit beside it' }],
    ['nothing at all', {}, { code: 'CHARGES_MISSING' }],
    ['no charges', { charges: [] }, { code: 'CHARGES_MISSING' }],
    [
      'a charge without a limit',
      { charges: [{ id: 'k' }] },
      { thing: 'charges[0]', rule: 'needs the field "limit"' },
    ],
    [
      'an unknown limit',
      { limit: 'PerKye', id: 'k' },
      { code: 'LIMIT_UNKNOWN', finding: expect.stringContaining('PerKey') },
    ],
    ['no id', { limit: 'PerKey' }, { code: 'ID_MISSING' }],
    [
      'an id that is no address',
      { limit: 'PerAddress', id: 'k' },
      { code: 'ID_INVALID', finding: '"k"' },
    ],
    ['more than can ever be allowed', { ...KEY, cost: 4 }, { code: 'COST_ABOVE_BURST' }],
    ['the same bucket twice', { charges: [KEY, KEY] }, { code: 'BUCKET_TWICE' }],
    [
      'a wrong part',
      { limit: 'NewOrdersPerAccount', parts: { regid: 1 } },
      { thing: 'parts.regid' },
    ],
  ]
  test.each(wrong)('%s', async (_, payload, problem) => {
    const { app } = testServer()
    const reply = await post(app, '/v1/spend', payload)
    expect(reply.statusCode).toBe(400)
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(reply.json()).toMatchObject(problem)
    const { detail, thing, rule, type, title } = reply.json()
    expect(detail).toBe(
      `${thing}: ${rule}${'finding' in reply.json() ? `, found ${reply.json().finding}` : ''}`,
    )
    expect({ type, title }).toEqual({ type: expect.any(String), title: expect.any(String) })
  })
})
