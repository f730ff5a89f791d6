import { describe, expect, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { type KoaContext, koaGate } from './koa.ts'
import type { SharedOptions } from './options.ts'

interface Draft {
  readonly ip?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly app?: KoaContext['app']
  readonly state?: object
  readonly req?: KoaContext['req']
}

/** As much of Koa as a gate meets; the framework itself is in test/interop/middleware. */
const contextOf = (draft: Draft = {}) => {
  const { ip = '203.0.113.7', headers = {}, app = {}, state = {} } = draft
  const sent = new Map<string, string>()
  return {
    status: 404,
    body: undefined as unknown,
    method: 'GET',
    path: '/',
    ip,
    state,
    app,
    sent,
    req: draft.req ?? { socket: { remoteAddress: '10.0.0.1' } },
    response: { get: (name: string) => sent.get(name) ?? '' },
    get: (name: string) => headers[name.toLowerCase()] ?? '',
    set: (name: string, value: string) => void sent.set(name, value),
  }
}

const scene = (options: Partial<SharedOptions<KoaContext>> = {}) => {
  const { store, warn, codes } = gateScene()
  const gate = koaGate({ limits: { Api: { burst: 1, period: '1m' } }, store, warn, ...options })
  const send = async (draft: Draft = {}, handler: () => Promise<void> = async () => undefined) => {
    const context = contextOf(draft)
    let ran = false
    await gate(context, async () => {
      ran = true
      context.status = 200
      await handler()
    })
    return { context, ran }
  }
  return { send, codes }
}

test('a request passes with headers, and its answer is at ctx.state.rateLimit', async () => {
  const { context, ran } = await scene().send()
  expect(ran).toBe(true)
  expect(context.sent.get('RateLimit')).toBe('"Api";r=0;t=60')
  expect(context.state).toMatchObject({ rateLimit: { allowed: true } })
})

test('a refusal answers, and no handler runs', async () => {
  const { send } = scene()
  await send()
  const { context, ran } = await send()
  expect([ran, context.status]).toEqual([false, 429])
  expect(context.sent.get('Retry-After')).toBe('60')
  expect(JSON.parse(String(context.body))).toMatchObject({ code: 'QUOTA_EXCEEDED' })
})

describe('a refund', () => {
  const failing = (error: object) => async () => {
    throw Object.assign(new Error('of the handler'), error)
  }

  test.each<[string, object, boolean]>([
    ['an error', {}, true],
    ['an error of status 503', { status: 503 }, true],
    ['an error of status 404', { status: 404 }, false],
    ['an error of statusCode 400', { statusCode: 400 }, false],
    ['a missing file', { code: 'ENOENT' }, false],
  ])('after %s, which is thrown on: %o', async (_, error, given) => {
    const { send } = scene({ refund: true })
    await expect(send({}, failing(error))).rejects.toThrow('of the handler')
    expect((await send()).ran).toBe(given)
  })

  test.each([200, 500])('is not given to a client that left, after %d', async (status) => {
    const { send } = scene({ refund: () => true })
    const leaving = { socket: { remoteAddress: '10.0.0.1', destroyed: false } }
    await send({ req: leaving }, async () => {
      leaving.socket.destroyed = true
      if (status === 500) throw new Error('of the handler')
    }).catch(() => undefined)
    expect((await send()).ran).toBe(false)
  })

  test('may follow success', async () => {
    const { send } = scene({ refund: ({ status }) => status === 200 })
    await send()
    expect((await send()).ran).toBe(true)
  })
})

test.each<[string, KoaContext['app'], readonly string[]]>([
  ['no proxy', {}, ['PROXY_UNTRUSTED']],
  ['any proxy', { proxy: true }, ['PROXY_TRUSTS_ALL']],
  ['one proxy', { proxy: true, maxIpsCount: 1 }, []],
  ['a header of its own', { proxy: true, proxyIpHeader: 'CF-Connecting-IP' }, []],
])('an app that trusts %s', async (_, app, expected) => {
  const { send, codes } = scene()
  await send({ app, headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(codes()).toEqual(expected)
})

test('a connection without an address is not unlimited', async () => {
  const { send, codes } = scene()
  expect((await send({ ip: '' })).ran).toBe(true)
  expect((await send({ ip: '' })).ran).toBe(false)
  expect(codes()).toEqual(['CLIENT_ADDRESS_UNKNOWN'])
})

test('the user is where koa-jwt and koa-passport put it', async () => {
  const { send } = scene({ who: 'user' })
  const { context } = await send({ state: { user: { sub: 'ann' } } })
  expect(context.state).toMatchObject({ rateLimit: { charges: [{ id: 'ann' }] } })
})
