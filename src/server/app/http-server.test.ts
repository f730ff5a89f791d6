import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { StoreError } from '../../core/errors.ts'
import { MAX_REQUEST_BYTES, MAX_URL_LENGTH } from './bounds.ts'

const KEY = { limit: 'PerKey', id: 'k' }

const raw = (payload: string, headers: Record<string, string>) =>
  testServer().app.inject({ method: 'POST', url: '/v1/spend', payload, headers })

const JSON_TYPE = { 'content-type': 'application/json' }

describe('a request that no route can take is answered with a problem', () => {
  test('an unknown path', async () => {
    const reply = await testServer().app.inject('/v1/spent')
    expect(reply.statusCode).toBe(404)
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(reply.json()).toMatchObject({ code: 'NOT_FOUND', finding: 'GET "/v1/spent"' })
  })

  test.each([
    ['GET', '/v1/spend', 'POST'],
    ['DELETE', '/v1/limits/PerKey', 'GET'],
    ['POST', '/livez', 'GET'],
    ['HEAD', '/v1/limits', 'GET'],
  ] as const)('%s %s is not allowed, and what is is said', async (method, url, allow) => {
    const reply = await testServer().app.inject({ method, url })
    expect(reply.statusCode).toBe(405)
    expect(reply.headers['allow']).toBe(allow)
  })

  test('a path that is not percent-encoded UTF-8', async () => {
    const reply = await testServer().app.inject('/v1/limits/%ff')
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'URL_INVALID' })
  })

  test('a URL that is too long', async () => {
    const reply = await testServer().app.inject(`/v1/limits?after=${'a'.repeat(MAX_URL_LENGTH)}`)
    expect(reply.statusCode).toBe(414)
    expect(reply.json()).toMatchObject({ code: 'URL_TOO_LONG' })
  })

  test('an id in a path that is too long', async () => {
    const reply = await testServer().app.inject(`/v1/limits/PerKey/${'a'.repeat(5_000)}`)
    expect(reply.statusCode).toBe(414)
    expect(reply.json()).toMatchObject({ code: 'URL_TOO_LONG' })
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])(
    'a body of %s, which a web page can send without asking',
    async (type) => {
      const reply = await raw(JSON.stringify(KEY), { 'content-type': type })
      expect(reply.statusCode).toBe(415)
      expect(reply.json()).toMatchObject({
        code: 'CONTENT_TYPE_UNSUPPORTED',
        finding: JSON.stringify(type),
      })
    },
  )

  test('a body without a type', async () => {
    const reply = await raw(JSON.stringify(KEY), {})
    expect(reply.statusCode).toBe(415)
    expect(reply.json()).toMatchObject({ finding: 'none' })
  })

  test.each(['', '{', '{"limit":', 'limit=PerKey', '{"__proto__":{}}'])(
    'a body that is not JSON: %j',
    async (payload) => {
      const reply = await raw(payload, JSON_TYPE)
      expect(reply.statusCode).toBe(400)
      expect(reply.json()).toMatchObject({ code: 'BODY_NOT_JSON' })
    },
  )

  test('no body at all', async () => {
    const reply = await testServer().app.inject({ method: 'POST', url: '/v1/spend' })
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'BODY_INVALID', finding: 'nothing' })
  })

  test('a body that is too large', async () => {
    const reply = await raw(
      JSON.stringify({ ...KEY, id: 'a'.repeat(MAX_REQUEST_BYTES) }),
      JSON_TYPE,
    )
    expect(reply.statusCode).toBe(413)
    expect(reply.json()).toMatchObject({ code: 'BODY_TOO_LARGE' })
  })
})

describe('a number with a fraction that reading it would lose', () => {
  const codeOf = async (number: string, text = 'x'): Promise<string | undefined> => {
    const payload = `{"limit":"PerKey","id":${JSON.stringify(text)},"cost":${number}}`
    return (await raw(payload, JSON_TYPE)).json().rule
  }
  const LOST = 'may hold only numbers whose fraction can be read exactly'

  test.each(['9007199254740990.9', '9007199254740.9909e3', '1.00000000000000000001', '1e-400'])(
    '%s is a mistake',
    async (number) => expect(await codeOf(number)).toBe(LOST),
  )

  test.each(['1', '1.0', '1.50e1', '10e-1', '0.000', '1.5', '2e0', '0e-5'])(
    '%s is read as it is',
    async (number) => expect(await codeOf(number)).not.toBe(LOST),
  )

  test('digits in a text are no number', async () => {
    expect(await codeOf('1', '\\"9007199254740990.9')).not.toBe(LOST)
  })
})

describe('when the store is down', () => {
  const down = () =>
    testServer({
      wrap: (store) => ({
        ...store,
        transact: async () => {
          throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'disk', rule: 'must be there' })
        },
      }),
    }).app
  const spend = (limit: string) =>
    down().inject({ method: 'POST', url: '/v1/spend', payload: { limit, id: 'k' } })

  test('a closed limit is 503, and a retry is invited', async () => {
    const reply = await spend('PerKey')
    expect(reply.statusCode).toBe(503)
    expect(reply.headers['retry-after']).toBe('1')
    expect(reply.json()).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    })
  })

  test('an open limit allows, and says why', async () => {
    const reply = await spend('OpenWhenDown')
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toMatchObject({
      allowed: true,
      remaining: null,
      reason: 'STORE_UNAVAILABLE',
    })
    expect(reply.headers).not.toHaveProperty('ratelimit')
  })

  test('the server lives but is not ready', async () => {
    const app = down()
    expect((await app.inject('/livez')).statusCode).toBe(200)
    const ready = await app.inject('/readyz')
    expect(ready.statusCode).toBe(503)
    expect(ready.json()).toMatchObject({ ready: false, reasons: ['store: disk: must be there'] })
  })
})

test('a mistake of ours is 500, and its details stay in the log', async () => {
  const { app } = testServer({
    wrap: (store) => ({
      ...store,
      transact: async () => {
        throw new Error('secret detail')
      },
    }),
  })
  const reply = await app.inject({ method: 'POST', url: '/v1/spend', payload: KEY })
  expect(reply.statusCode).toBe(500)
  expect(reply.json()).toMatchObject({ code: 'INTERNAL' })
  expect(reply.body).not.toContain('secret')
})
