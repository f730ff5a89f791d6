import fastify, { type FastifyServerOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { type FastifyGateOptions, fastifyGate } from './fastify.ts'

const scene = async (
  options: Partial<FastifyGateOptions> = {},
  server: FastifyServerOptions = {},
) => {
  const { store, warn, codes } = gateScene()
  const app = fastify(server)
  app.addHook('preParsing', async (request) => {
    Object.assign(request, { user: request.headers['x-user'] })
  })
  const limits = { Api: { burst: 1, period: '1m' } }
  await app.register(fastifyGate, { limits, store, warn, ...options } as FastifyGateOptions)
  app.get('/', async ({ rateLimit }) => ({ id: rateLimit?.charges[0]?.id }))
  app.get('/broken', async () => {
    throw new Error('of the handler')
  })
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  return { app, get, codes }
}

test('a request passes with headers, and its answer is at request.rateLimit', async () => {
  const { get } = await scene()
  const { statusCode, headers, body } = await get('/')
  expect([statusCode, headers['ratelimit'], body]).toEqual([
    200,
    '"Api";r=0;t=60',
    '{"id":"127.0.0.1"}',
  ])
})

test('a refusal answers, for unknown paths too', async () => {
  const { get } = await scene()
  await get('/')
  for (const path of ['/', '/nowhere']) {
    const { statusCode, headers, json } = await get(path)
    expect([statusCode, headers['retry-after']]).toEqual([429, '60'])
    expect(headers['content-type']).toContain('application/problem+json')
    expect(json()).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  }
})

test('a gate limits its scope, and the gates of outer scopes come first', async () => {
  const { app, get } = await scene({ limits: { Api: { burst: 9, period: '1m' } } })
  await app.register(async (scope) => {
    await scope.register(fastifyGate, { limits: { Login: { burst: 1, period: '1m' } } })
    scope.get('/login', async () => 'in')
  })
  expect((await get('/login')).headers['ratelimit']).toBe('"Api";r=8;t=7, "Login";r=0;t=60')
  expect((await get('/login')).statusCode).toBe(429)
  expect((await get('/')).statusCode).toBe(200)
})

test('the hook may be a later one, where other hooks have found the user', async () => {
  const early = await scene({ who: 'user' })
  expect((await early.get('/', { 'x-user': 'ann' })).json()).toEqual({ id: 'address:127.0.0.1' })
  const late = await scene({ who: 'user', hook: 'preHandler' })
  expect((await late.get('/', { 'x-user': 'ann' })).json()).toEqual({ id: 'ann' })
})

test('options are read when the app gets ready', async () => {
  const app = fastify()
  app.register(fastifyGate, { limits: { Api: { burst: 0, period: '1m' } } })
  await expect(app.ready()).rejects.toMatchObject({ code: 'FIELD_VALUE' })
})

describe('a refund', () => {
  test('follows a handler that failed', async () => {
    const { get } = await scene({ refund: true })
    expect((await get('/broken')).statusCode).toBe(500)
    await new Promise(setImmediate)
    expect((await get('/')).statusCode).toBe(200)
    expect((await get('/')).statusCode).toBe(429)
  })

  test('and no other', async () => {
    const { get } = await scene()
    await get('/broken')
    await new Promise(setImmediate)
    expect((await get('/')).statusCode).toBe(429)
  })
})

describe('proxies', () => {
  const headers = { 'x-forwarded-for': '203.0.113.7' }

  test('that Fastify does not trust are logged', async () => {
    const { get, codes } = await scene()
    expect((await get('/', headers)).json()).toEqual({ id: '127.0.0.1' })
    expect(codes()).toEqual(['PROXY_UNTRUSTED'])
  })

  test('that are not those it trusts are logged too', async () => {
    const { get, codes } = await scene({}, { trustProxy: '10.9.9.9' })
    expect((await get('/', headers)).json()).toEqual({ id: '127.0.0.1' })
    expect(codes()).toEqual(['PROXY_UNTRUSTED'])
  })

  test('that it trusts are believed', async () => {
    const { get, codes } = await scene({}, { trustProxy: '127.0.0.1' })
    expect((await get('/', headers)).json()).toEqual({ id: '203.0.113.7' })
    expect(codes()).toEqual([])
  })

  test('may be told to the gate instead', async () => {
    const { get, codes } = await scene({ proxy: { trusted: ['127.0.0.1'] } })
    expect((await get('/', headers)).json()).toEqual({ id: '203.0.113.7' })
    expect(codes()).toEqual([])
  })
})
