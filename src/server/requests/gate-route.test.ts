import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import type { Settings } from '../config/settings.ts'

test('allowed is 204 without a body, with the headers of the decision', async () => {
  const reply = await testServer().app.inject('/v1/gate?limit=PerKey&id=k')
  expect(reply.statusCode).toBe(204)
  expect(reply.body).toBe('')
  expect(reply.headers).toMatchObject({
    'ratelimit-policy': '"PerKey";q=3;w=30',
    ratelimit: '"PerKey";r=2;t=10',
    'cache-control': 'no-store',
  })
})

test('refused is 429 with a problem that any client of the draft knows', async () => {
  const { app } = testServer()
  await app.inject('/v1/gate?limit=PerKey&id=k&cost=3')
  const reply = await app.inject('/v1/gate?limit=PerKey&id=k')
  expect(reply.statusCode).toBe(429)
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(reply.headers['retry-after']).toBe('10')
  expect(reply.json()).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'The limit is reached',
    status: 429,
    code: 'QUOTA_EXCEEDED',
    detail: expect.stringContaining('too many requests (3) for "k"'),
    thing: 'PerKey',
    rule: 'is used up',
    'violated-policies': ['PerKey'],
    retryAfterMs: 10_000,
  })
})

test.each([401, 403])('a proxy that knows only 401 and 403 may ask for %d', async (status) => {
  const { app } = testServer()
  await app.inject('/v1/gate?limit=PerKey&id=k&cost=3')
  const reply = await app.inject(`/v1/gate?limit=PerKey&id=k&refuseWith=${status}`)
  expect(reply.statusCode).toBe(status)
  expect(reply.json()).toMatchObject({ status, code: 'QUOTA_EXCEEDED' })
})

test.each([
  ['id=k', { code: 'QUERY_INVALID', thing: 'the query', rule: 'needs the field "limit"' }],
  ['limit=PerKey', { code: 'ID_MISSING' }],
  ['limit=PerKey&id=k&cost=two', { code: 'QUERY_INVALID', thing: 'cost', finding: '"two"' }],
  ['limit=PerKey&id=k&cost=-1', { code: 'QUERY_INVALID', thing: 'cost' }],
  ['limit=PerKey&id=k&cots=1', { code: 'QUERY_INVALID', thing: 'cots' }],
  ['limit=PerKey&id=k&id=l', { code: 'QUERY_INVALID', thing: 'id' }],
  ['limit=PerKey&id=k&refuseWith=200', { code: 'QUERY_INVALID', thing: 'refuseWith' }],
  ['limit=Nope&id=k', { code: 'LIMIT_UNKNOWN' }],
])(
  'a wrong query is a mistake of the proxy, and is told what is wrong: %s',
  async (query, { code, ...problem }) => {
    const reply = await testServer().app.inject(`/v1/gate?${query}`)
    expect(reply.statusCode).toBe(500)
    expect(reply.json()).toMatchObject({ code: 'GATE_MISCONFIGURED', cause: code, ...problem })
  },
)

describe('no answer looks like a refusal unless it is one', () => {
  const sha256 = createHash('sha256').update('hg_shop').digest('hex')
  const tokens = [{ name: 'shop', sha256, scopes: ['decide' as const] }]
  const ask = (headers: Record<string, string>, settings: Partial<Settings> = {}, more = {}) =>
    testServer({ settings }).app.inject({ url: '/v1/gate?limit=PerKey&id=k', headers, ...more })

  test.each([
    ['no token', 'TOKEN_MISSING', () => ask({}, { tokens })],
    ['a wrong token', 'TOKEN_UNKNOWN', () => ask({ authorization: 'Bearer hg_guess' }, { tokens })],
    ['the name of an upstream', 'HOST_NOT_ALLOWED', () => ask({ host: 'headgate' })],
    ["a browser's Origin", 'ORIGIN_NOT_ALLOWED', () => ask({ origin: 'https://shop.example' })],
    ['another method', 'METHOD_NOT_ALLOWED', () => ask({}, {}, { method: 'POST' })],
    ['a long id', 'URL_TOO_LONG', () => ask({}, {}, { url: `/v1/gate?id=${'k'.repeat(9_000)}` })],
  ])('%s', async (_what, cause, asked) => {
    const reply = await asked()
    expect(reply.statusCode).toBe(500)
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(reply.headers['www-authenticate']).toBeUndefined()
    expect(reply.json()).toEqual({
      type: 'urn:headgate:problem:GATE_MISCONFIGURED',
      title: 'The proxy asks the gate wrongly',
      status: 500,
      code: 'GATE_MISCONFIGURED',
      cause,
      detail: expect.stringContaining(reply.json().rule),
      thing: expect.any(String),
      rule: expect.any(String),
      ...(reply.json().finding && { finding: expect.any(String) }),
    })
    expect(reply.body).not.toContain('hg_guess')
  })

  test('a store that fails stays 503', async () => {
    const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'the store', rule: 'is down' })
    const wrap = (store: Store): Store => ({ ...store, transact: () => Promise.reject(down) })
    const reply = await testServer({ wrap }).app.inject('/v1/gate?limit=PerKey&id=k')
    expect(reply.statusCode).toBe(503)
    expect(reply.json()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

describe('without an id a limit of addresses counts the client', () => {
  const remaining = async (
    app: ReturnType<typeof testServer>['app'],
    remoteAddress: string,
    forwarded?: string,
  ) => {
    const reply = await app.inject({
      url: '/v1/gate?limit=PerAddress',
      remoteAddress,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    })
    return Number(/;r=(\d+)/.exec(String(reply.headers['ratelimit']))?.[1])
  }

  test('by its address', async () => {
    const { app } = testServer()
    expect(await remaining(app, '192.0.2.1')).toBe(4)
    expect(await remaining(app, '192.0.2.1')).toBe(3)
    expect(await remaining(app, '192.0.2.2')).toBe(4)
  })

  test('IPv4 in IPv6 clothes is the same client', async () => {
    const { app } = testServer()
    await remaining(app, '192.0.2.1')
    expect(await remaining(app, '::ffff:192.0.2.1')).toBe(3)
  })

  test('IPv6 by its /64, as its owner has all of it', async () => {
    const { app } = testServer()
    await remaining(app, '2001:db8:1:2::1')
    expect(await remaining(app, '2001:db8:1:2:ffff::9')).toBe(3)
    expect(await remaining(app, '2001:db8:1:3::1')).toBe(4)
  })

  test('X-Forwarded-For is not believed unless told', async () => {
    const { app } = testServer()
    await remaining(app, '192.0.2.1', '198.51.100.1')
    expect(await remaining(app, '192.0.2.1', '198.51.100.2')).toBe(3)
  })

  test('from a trusted proxy the rightmost untrusted address counts, whatever a client wrote', async () => {
    const { app } = testServer({ settings: { trustProxy: ['10.0.0.0/8'] } })
    expect(await remaining(app, '10.0.0.1', '203.0.113.9, 198.51.100.1, 10.0.0.2')).toBe(4)
    expect(await remaining(app, '10.0.0.1', '203.0.113.8, 198.51.100.1, 10.0.0.2')).toBe(3)
    expect(await remaining(app, '198.51.100.1', '203.0.113.7')).toBe(2)
  })
})
