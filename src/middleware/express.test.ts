import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { type ExpressRequest, expressGate } from './express.ts'
import type { GateOptions } from './options.ts'

/** As much of Express as a gate meets; the framework itself is in test/interop/middleware. */
const request = (more: Partial<ExpressRequest> & { trust?: unknown; user?: object } = {}) => {
  const { trust = false, headers = {}, ...rest } = more
  return {
    method: 'GET',
    path: '/',
    originalUrl: '/',
    headers,
    ip: '203.0.113.7',
    socket: { remoteAddress: '10.0.0.1' },
    app: { get: (name: string) => (name === 'trust proxy' ? trust : undefined) },
    get: (name: string) => String(headers[name.toLowerCase()] ?? ''),
    ...rest,
  }
}

class Reply extends EventEmitter {
  statusCode = 200
  body: string | undefined
  readonly headers = new Map<string, string>()
  getHeader(name: string) {
    return this.headers.get(name.toLowerCase())
  }
  setHeader(name: string, value: string) {
    this.headers.set(name.toLowerCase(), value)
  }
  end(body: string) {
    this.body = body
    this.emit('finish')
  }
}

const scene = (options: Partial<GateOptions<ExpressRequest>> = {}) => {
  const { store, warn, codes } = gateScene()
  const limits = { Api: { burst: 1, period: '1m' } }
  const gate = expressGate({ limits, store, warn, ...options } as GateOptions<ExpressRequest>)
  const send = async (asked: ExpressRequest = request(), reply = new Reply()) => {
    const passed: unknown[] = []
    await gate(asked, reply, (error) => passed.push(error))
    return { reply, passed, request: asked }
  }
  return { send, codes, gate }
}

test('a request passes with headers, and its answer is at req.rateLimit', async () => {
  const { send } = scene()
  const { passed, reply, request: asked } = await send()
  expect(passed).toEqual([undefined])
  expect(reply.getHeader('RateLimit')).toBe('"Api";r=0;t=60')
  expect(asked.rateLimit).toMatchObject({ allowed: true, remaining: 0 })
})

test('a refusal ends the response, and no handler runs', async () => {
  const { send } = scene()
  await send()
  const { passed, reply } = await send()
  expect(passed).toEqual([])
  expect(reply.statusCode).toBe(429)
  expect(reply.getHeader('Retry-After')).toBe('60')
  expect(JSON.parse(reply.body ?? '')).toMatchObject({ code: 'QUOTA_EXCEEDED' })
})

test('two gates show both their limits', async () => {
  const [first, second] = [scene(), scene({ limits: { Other: { burst: 9, period: '1m' } } })]
  const { reply } = await first.send()
  await second.send(request(), reply)
  expect(reply.getHeader('RateLimit')).toBe('"Api";r=0;t=60, "Other";r=8;t=7')
})

test('mistakes of the program go to next', async () => {
  const { send } = scene({ cost: () => -1 })
  const { passed } = await send()
  expect(passed).toMatchObject([{ code: 'COST_INVALID' }])
})

test('what a handler throws is not taken for a mistake of the gate', async () => {
  const { gate } = scene()
  const calls: unknown[] = []
  const next = (error?: unknown) => {
    calls.push(error)
    throw new Error('of the handler')
  }
  await expect(gate(request(), new Reply(), next)).rejects.toThrow('of the handler')
  expect(calls).toEqual([undefined])
})

describe('a refund', () => {
  test('follows a response that failed, once it was sent', async () => {
    const { send } = scene({ refund: true })
    const { reply } = await send()
    reply.statusCode = 500
    reply.emit('finish')
    await new Promise(setImmediate)
    expect((await send()).passed).toEqual([undefined])
  })

  test('does not follow a client that went away', async () => {
    const { send } = scene({ refund: true })
    const { reply } = await send()
    reply.statusCode = 500
    reply.emit('close')
    await new Promise(setImmediate)
    expect((await send()).passed).toEqual([])
  })
})

describe('proxies', () => {
  const headers = { 'x-forwarded-for': '203.0.113.7' }

  test.each<[string, unknown, readonly string[]]>([
    ['unset', undefined, ['PROXY_UNTRUSTED']],
    ['false', false, ['PROXY_UNTRUSTED']],
    ['true', true, ['PROXY_TRUSTS_ALL']],
    ['a number', 1, []],
    ['a list', 'loopback', []],
  ])('trust proxy: %s', async (_, trust, expected) => {
    const { send, codes } = scene()
    await send(request({ trust, headers }))
    expect(codes()).toEqual(expected)
  })

  test('may be told to the gate instead: then it reads the header itself', async () => {
    const { send, codes } = scene({ proxy: { hops: 1 } })
    const { request: asked } = await send(request({ ip: '10.0.0.1', headers }))
    expect(asked.rateLimit?.charges[0]?.id).toBe('203.0.113.7')
    expect(codes()).toEqual([])
  })
})

test('where there is no Express, the socket tells the address', async () => {
  const { send } = scene()
  const { request: asked } = await send(request({ ip: undefined }))
  expect(asked.rateLimit?.charges[0]?.id).toBe('10.0.0.1')
})

test('the user is where passport or express-jwt put it', async () => {
  const { send } = scene({ who: 'user' })
  const byPassport = await send(request({ user: { id: 'ann' } }))
  expect(byPassport.request.rateLimit?.charges[0]?.id).toBe('ann')
  const byToken = await send(Object.assign(request(), { auth: { sub: 'bob' } }))
  expect(byToken.request.rateLimit?.charges[0]?.id).toBe('bob')
})

test('a header that came several times is one list', async () => {
  const { send } = scene({ proxy: { hops: 1 } })
  const headers = { 'x-forwarded-for': ['6.6.6.6', '203.0.113.9'] }
  const { request: asked } = await send(request({ headers }))
  expect(asked.rateLimit?.charges[0]?.id).toBe('203.0.113.9')
})
