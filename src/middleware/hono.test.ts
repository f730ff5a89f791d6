import { type Context, Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { honoGate } from './hono.ts'
import type { InlineLimits, SharedOptions } from './options.ts'

interface Variables {
  user?: { id: string }
}

/** The address as @hono/node-server hands it over. */
const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

const scene = (options: Partial<SharedOptions<Context> & InlineLimits<Context>> = {}) => {
  const { store, warn, codes } = gateScene()
  const app = new Hono<{ Variables: Variables }>()
  app.use(async (c, next) => {
    const id = c.req.header('x-user')
    if (id !== undefined) c.set('user', { id })
    await next()
  })
  const limits = { Api: { burst: 1, period: '1m' } }
  app.use(honoGate({ limits, store, warn, ...options }))
  app.get('/', (c) => c.json({ id: c.get('rateLimit')?.charges[0]?.id }))
  app.get('/raw', () => new Response('raw'))
  app.get('/away', () => Response.redirect('https://example.com/', 302))
  app.get('/broken', () => {
    throw new Error('of the handler')
  })
  app.onError((_, c) => c.text('broken', 500))
  const get = (
    path: string,
    headers: Record<string, string> = {},
    env: object = from('203.0.113.7'),
  ) => app.request(path, { headers }, env)
  return { app, get, codes }
}

test("a request passes with headers, and its answer is at c.get('rateLimit')", async () => {
  const response = await scene().get('/')
  expect(response.headers.get('ratelimit')).toBe('"Api";r=0;t=60')
  expect(await response.json()).toEqual({ id: '203.0.113.7' })
})

test.each(['/raw', '/away', '/broken', '/nowhere'])('%s has them too', async (path) => {
  const response = await scene().get(path)
  expect(response.headers.get('ratelimit')).toBe('"Api";r=0;t=60')
})

test('a refusal answers, and no handler runs', async () => {
  const { get } = scene()
  await get('/')
  const response = await get('/')
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('60')
  expect(await response.json()).toMatchObject({ code: 'QUOTA_EXCEEDED' })
})

test.each(['/text', '/own'])('two gates show both their limits: %s', async (path) => {
  const { app, get } = scene({ limits: { Api: { burst: 9, period: '1m' } } })
  const inner = honoGate({ limits: { Other: { burst: 1, period: '1m' } } })
  app.get('/text', inner, (c) => c.text('in'))
  app.get('/own', inner, () => new Response('in'))
  const shown = (await get(path)).headers.get('ratelimit')?.split(', ').sort()
  expect(shown).toEqual(['"Api";r=8;t=7', '"Other";r=0;t=60'])
  const refused = await get(path)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')?.split(', ')).toHaveLength(2)
})

test('a refund follows a handler that failed, though Hono has caught what it threw', async () => {
  const { get } = scene({ refund: ({ error }) => error !== undefined })
  expect((await get('/broken')).status).toBe(500)
  expect((await get('/')).status).toBe(200)
  expect((await get('/')).status).toBe(429)
})

test.each([200, 500])('a client that left gets nothing back, after %d', async (status) => {
  const { app, get } = scene({ refund: () => true })
  const client = new AbortController()
  app.get('/slow', (c) => {
    client.abort()
    if (status === 500) throw new Error('of the handler')
    return c.text('nobody reads it')
  })
  const request = new Request('https://example.com/slow', { signal: client.signal })
  await app.request(request, undefined, from('203.0.113.7'))
  expect((await get('/')).status).toBe(429)
})

test('mistakes of the program go to onError', async () => {
  const { get } = scene({ cost: () => -1 })
  expect(await (await get('/')).text()).toBe('broken')
})

test('the user is a variable of the context', async () => {
  const { get } = scene({ who: 'user' })
  expect(await (await get('/', { 'x-user': 'ann' })).json()).toEqual({ id: 'ann' })
  expect(await (await get('/')).json()).toEqual({ id: 'address:203.0.113.7' })
})

describe('proxies', () => {
  test('are not trusted unless told, and that is logged', async () => {
    const { get, codes } = scene()
    const headers = { 'x-forwarded-for': '6.6.6.6' }
    expect(await (await get('/', headers)).json()).toEqual({ id: '203.0.113.7' })
    expect(codes()).toEqual(['PROXY_UNTRUSTED'])
  })

  test('an address that no adapter hands over is not unlimited', async () => {
    const { get, codes } = scene()
    expect((await get('/', {}, {})).status).toBe(200)
    expect((await get('/', {}, {})).status).toBe(429)
    expect(codes()).toEqual(['CLIENT_ADDRESS_UNKNOWN'])
  })
})
