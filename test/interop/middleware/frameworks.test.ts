/** Gates in real frameworks, over real HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expressGate } from '../../../src/middleware/express.ts'
import { fastifyGate } from '../../../src/middleware/fastify.ts'
import { fetchGate, rateLimitOf } from '../../../src/middleware/fetch.ts'
import { honoGate } from '../../../src/middleware/hono.ts'
import { koaGate } from '../../../src/middleware/koa.ts'
import type { SharedOptions } from '../../../src/middleware/options.ts'
import { downStore, gateScene } from '../../support/gate.ts'
import { install } from '../install.ts'
import type * as Apps from './apps.js'
import { type CompiledExamples, compileExamples, EXAMPLES, startExample } from './examples.ts'

let apps: typeof Apps
let compiled: CompiledExamples

beforeAll(async () => {
  install('middleware/')
  apps = await import('./apps.js')
  compiled = compileExamples()
}, 300_000)

afterAll(() => compiled?.remove())

/** What all frameworks understand alike: functions of a request are in the tests of each door. */
interface Terms
  extends Pick<SharedOptions<never>, 'headers' | 'onStoreFailure' | 'proxy' | 'warn'> {
  readonly refund?: boolean
  readonly burst?: number
  readonly store?: ReturnType<typeof downStore>
  readonly open?: boolean
}

const optionsOf = ({ burst = 10, open = false, ...rest }: Terms) => ({
  limits: { Api: { burst, period: '1h', onStoreFailure: open ? 'open' : 'closed' } as const },
  ...rest,
})

const GATES = {
  express: (terms: Terms) => expressGate(optionsOf(terms)),
  fastify: (terms: Terms) => ({ plugin: fastifyGate, options: optionsOf(terms) }),
  hono: (terms: Terms) => honoGate(optionsOf(terms)),
  koa: (terms: Terms) => koaGate(optionsOf(terms)),
  fetch: (terms: Terms) => ({ gate: fetchGate(optionsOf(terms)), rateLimitOf }),
} as const

type Framework = keyof typeof GATES

const opened: Apps.Listening[] = []
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close()
})

const open = async (name: Framework, terms: Terms = {}, settings: Apps.AppSettings = {}) => {
  const { warn, codes } = gateScene()
  const app = await apps.APPS[name](GATES[name]({ warn, ...terms }), settings)
  opened.push(app)
  const get = (path = '/', headers: Record<string, string> = {}) =>
    fetch(`${app.url}${path}`, { headers })
  const client = (address: string) => get('/', { 'x-forwarded-for': address })
  return { get, client, codes }
}

describe.each(Object.keys(GATES) as readonly Framework[])('%s', (name) => {
  test('of a hundred requests at once exactly the burst passes', async () => {
    const { get, codes } = await open(name)
    const responses = await Promise.all(Array.from({ length: 100 }, () => get()))
    const passed = responses.filter(({ status }) => status === 200)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(90)
    const left = passed.map(({ headers }) => headers.get('ratelimit')?.split(';')[1]).sort()
    expect(left).toEqual(Array.from({ length: 10 }, (_, remaining) => `r=${remaining}`))
    expect(codes()).toEqual([])
  })

  test('headers say what is left, and when to come back', async () => {
    const { get } = await open(name, { burst: 1 })
    const passed = await get()
    expect(passed.headers.get('ratelimit-policy')).toBe('"Api";q=1;w=3600')
    expect(passed.headers.get('ratelimit')).toBe('"Api";r=0;t=3600')
    expect(passed.headers.get('retry-after')).toBeNull()
    const refused = await get()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600'])
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['Api'] })
  })

  test('the older headers are there where they are asked for', async () => {
    const { get } = await open(name, { headers: ['draft-6', 'x-ratelimit'] })
    const { headers } = await get()
    expect(headers.get('ratelimit-remaining')).toBe('9')
    expect(headers.get('x-ratelimit-remaining')).toBe('9')
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000)
  })

  test('handlers see whom the request counted as', async () => {
    const { get } = await open(name)
    expect(await (await get()).json()).toEqual({ id: '127.0.0.1', remaining: 9 })
  })

  test('behind a trusted proxy clients count apart, those of IPv6 by their /64', async () => {
    const ownTrust = name === 'hono' || name === 'fetch'
    const { client, codes } = await open(
      name,
      ownTrust ? { burst: 1, proxy: { hops: 1 } } : { burst: 1 },
      { trust: 'one' },
    )
    const statuses: number[] = []
    for (const address of [
      '203.0.113.7',
      '203.0.113.8',
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff::9',
      '2001:db8:1:3::1',
      '6.6.6.6, 203.0.113.8',
    ]) {
      statuses.push((await client(address)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 200, 429])
    expect(codes()).toEqual([])
  })

  test('an X-Forwarded-For that nothing trusts changes no count, and is logged once', async () => {
    const { client, codes } = await open(name, { burst: 1 })
    expect((await client('203.0.113.7')).status).toBe(200)
    expect((await client('203.0.113.8')).status).toBe(429)
    expect(codes()).toEqual(['PROXY_UNTRUSTED'])
  })

  test('a handler that fails gives back what it cost, if that is asked for', async () => {
    const { get } = await open(name, { burst: 1, refund: true })
    for (let i = 0; i < 3; i++) {
      expect((await get('/broken')).status).toBe(500)
      // Node's frameworks tell that a response has ended a moment after its client knows.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect((await get()).status).toBe(200)
    expect((await get('/broken')).status).toBe(429)
  })

  test('and keeps it otherwise', async () => {
    const { get } = await open(name, { burst: 1 })
    expect((await get('/broken')).status).toBe(500)
    expect((await get()).status).toBe(429)
  })

  test('while the store is down, what the limit or the gate says holds', async () => {
    const closed = await open(name, { store: downStore() })
    const refused = await closed.get()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const byLimit = await open(name, { store: downStore(), open: true })
    expect((await byLimit.get()).status).toBe(200)
    const byGate = await open(name, { store: downStore(), onStoreFailure: 'open' })
    expect((await byGate.get()).status).toBe(200)
  })
})

describe.each(['express', 'koa'] as const)('%s', (name) => {
  test('that trusts any proxy is logged: a client could choose its address', async () => {
    const { client, codes } = await open(name, {}, { trust: 'any' })
    await client('6.6.6.6')
    expect(codes()).toEqual(['PROXY_TRUSTS_ALL'])
  })
})

describe('the examples', () => {
  test('compile in strict mode, as do the uses of each door', () => {
    expect(compiled.mistakes).toEqual([])
  })

  test.each(EXAMPLES)('%s limits in at most eight lines', async (name) => {
    expect(compiled.lines(name)).toBeLessThanOrEqual(8)
    if (name === 'fetch') return // It runs where there is a server for it: test/interop/runtimes.
    const example = await startExample(compiled.folder, name)
    opened.push(example)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await fetch(example.url)).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })
})
