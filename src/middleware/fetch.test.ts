import { describe, expect, expectTypeOf, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { fetchGate, rateLimitOf } from './fetch.ts'
import type { SharedOptions } from './options.ts'

/** As Deno hands it over. */
const info = { remoteAddr: { hostname: '203.0.113.7' } }

const scene = (options: Partial<SharedOptions<Request>> = {}) => {
  const { store, warn, codes } = gateScene()
  const gate = fetchGate({ limits: { Api: { burst: 1, period: '1m' } }, store, warn, ...options })
  return { gate, codes }
}

const ask = (headers: Record<string, string> = {}) =>
  new Request('https://example.com/', { headers })

test('a request passes with headers, and rateLimitOf has its answer', async () => {
  const fetch = scene().gate((request: Request, _: typeof info) => {
    return Response.json({ id: rateLimitOf(request)?.charges[0]?.id })
  })
  const response = await fetch(ask(), info)
  expect(response.headers.get('ratelimit')).toBe('"Api";r=0;t=60')
  expect(await response.json()).toEqual({ id: '203.0.113.7' })
})

test('a refusal answers, and no handler runs', async () => {
  let runs = 0
  const fetch = scene().gate((_request: Request, _info: object) => new Response(String(++runs)))
  await fetch(ask(), info)
  const response = await fetch(ask(), info)
  expect([response.status, response.headers.get('retry-after'), runs]).toEqual([429, '60', 1])
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(await response.json()).toMatchObject({ code: 'QUOTA_EXCEEDED' })
})

test('all that the platform gives goes through', async () => {
  const fetch = scene().gate(
    (_: Request, env: { name: string }, wait: () => string) =>
      new Response(`${env.name} ${wait()}`),
  )
  expectTypeOf(fetch).returns.resolves.toEqualTypeOf<Response>()
  const response = await fetch(ask(), { name: 'env' }, () => 'ctx')
  expect(await response.text()).toBe('env ctx')
})

test('responses that cannot be changed are copied', async () => {
  const fetch = scene().gate(() => Response.redirect('https://example.com/there', 302))
  const response = await fetch(ask())
  expect(response.status).toBe(302)
  expect(response.headers.get('location')).toBe('https://example.com/there')
  expect(response.headers.get('ratelimit')).toBe('"Api";r=0;t=60')
})

test('an upgrade of Bun answers nothing, and stays that', async () => {
  const fetch = scene().gate(() => undefined)
  expect(await fetch(ask())).toBeUndefined()
})

test('handlers of one gate share its buckets', async () => {
  const { gate } = scene()
  const [first, second] = [gate(() => new Response('1')), gate(() => new Response('2'))]
  expect((await first(ask())).status).toBe(200)
  expect((await second(ask())).status).toBe(429)
})

describe('a refund', () => {
  test('follows a handler that throws, and what it threw goes on', async () => {
    const { gate } = scene({ refund: true })
    const broken = gate((): Response => {
      throw new Error('of the handler')
    })
    await expect(broken(ask())).rejects.toThrow('of the handler')
    const passed = await gate(() => new Response('in'))(ask())
    expect(passed.status).toBe(200)
  })

  test.each([200, 500])('is not given to a client that left, after %d', async (status) => {
    const { gate } = scene({ refund: () => true })
    const client = new AbortController()
    const slow = gate(() => {
      client.abort()
      if (status === 500) throw new Error('of the handler')
      return new Response('nobody reads it')
    })
    const request = new Request('https://example.com/', { signal: client.signal })
    await slow(request).catch(() => undefined)
    expect((await gate(() => new Response('in'))(ask())).status).toBe(429)
  })

  test('follows a response that failed', async () => {
    const { gate } = scene({ refund: true })
    const fetch = gate(() => new Response('broken', { status: 502 }))
    for (let i = 0; i < 3; i++) expect((await fetch(ask())).status).toBe(502)
  })
})

describe('an address', () => {
  test('that nothing tells is one bucket for all, and a warning', async () => {
    const { gate, codes } = scene()
    const fetch = gate(() => new Response('in'))
    expect((await fetch(ask())).status).toBe(200)
    expect((await fetch(ask())).status).toBe(429)
    expect(codes()).toEqual(['CLIENT_ADDRESS_UNKNOWN'])
  })

  test('may be in a header that the platform writes', async () => {
    const { gate, codes } = scene({ proxy: { header: 'x-real-ip' } })
    const fetch = gate(() => new Response('in'))
    expect((await fetch(ask({ 'x-real-ip': '203.0.113.7' }))).status).toBe(200)
    expect((await fetch(ask({ 'x-real-ip': '203.0.113.8' }))).status).toBe(200)
    expect((await fetch(ask({ 'x-real-ip': '203.0.113.8' }))).status).toBe(429)
    expect(codes()).toEqual([])
  })
})
