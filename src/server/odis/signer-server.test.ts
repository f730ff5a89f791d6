/** The signer over HTTP: CIP-40's JSON for every status, the server's own included. */
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EVALUATION_KEY, requestFor, samples } from '../../../test/support/odis-requests.ts'
import { hashEvaluator } from '../../../test/support/odis-signer.ts'
import { createSigner, MAX_BODY_BYTES } from '../../secrets/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { createLogger } from '../logger.ts'
import { VERSION } from '../version.ts'
import { createOuterLimit } from './outer-limit.ts'
import { createSignerMetrics } from './signer-metrics.ts'
import { createSignerServer } from './signer-server.ts'
import type { SignerSettings } from './signer-settings.ts'

const SETTINGS: SignerSettings = {
  host: '127.0.0.1',
  port: 0,
  store: 'memory:',
  logLevel: 'silent',
  keys: 'keys',
  keySecret: { from: 'file', path: 'secret' },
  conduct: 'cip40',
  engine: 'wasm',
  trustProxy: [],
  allowSingleKey: false,
  allowMemory: true,
}

const scene = (more: Partial<SignerSettings> = {}) => {
  const settings = { ...SETTINGS, ...more }
  const store = memoryStore()
  const keys = { current: 1, notices: [], find: () => EVALUATION_KEY }
  const metrics = createSignerMetrics({ load: () => ({ running: 0, waiting: 0 }), keys })
  const signer = createSigner({
    store,
    evaluator: hashEvaluator(),
    keys,
    conduct: settings.conduct,
    version: VERSION,
    outerLimit: createOuterLimit(settings),
    observe: metrics.answer,
  })
  const opened = { settings, signer, store, metrics, keys, close: () => store.close() }
  const app = createSignerServer(opened, createLogger('silent'))
  onTestFinished(() => app.close())
  return { app, store }
}

const sample = () => {
  const found = samples('http')['sequential delay']
  if (found === undefined) throw new Error('the sample is there')
  return found
}

const failed = (code: string) => ({
  success: false,
  version: VERSION,
  error: expect.stringMatching(new RegExp(`^${code} `)),
})

describe("CIP-40's JSON", () => {
  test('signs, tells the key version, and refuses with Retry-After', async () => {
    const { app } = scene()
    const ask = (nonce: number) =>
      app.inject({
        method: 'POST',
        url: '/domain/sign?any=query',
        payload: requestFor(sample(), { nonce }),
      })
    const first = await ask(0)
    expect(first.statusCode).toBe(200)
    expect(first.headers['odis-key-version']).toBe('1')
    expect(first.json()).toMatchObject({ success: true, version: VERSION, status: { counter: 1 } })
    await ask(1)
    const third = await ask(2)
    expect(third.statusCode).toBe(429)
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(50)
    expect(third.json()).toMatchObject(failed('OVER_QUOTA'))
  })

  const wrong = [
    ['POST', '/nowhere', '{}', 404, 'ROUTE_UNKNOWN'],
    ['GET', '/domain/sign', undefined, 405, 'METHOD_UNSUPPORTED'],
    ['DELETE', '/status', undefined, 405, 'METHOD_UNSUPPORTED'],
    ['POST', '/domain/sign', '{', 400, 'MALFORMED_REQUEST'],
    ['POST', '/domain/sign', undefined, 400, 'MALFORMED_REQUEST'],
    ['POST', '/domain/disable', ' '.repeat(MAX_BODY_BYTES + 1), 413, 'BODY_TOO_LARGE'],
    ['POST', '/domain/%zz', '{}', 400, 'MALFORMED_REQUEST'],
  ] as const
  test.each(wrong)('%s %s %#: %j', async (method, url, payload, status, code) => {
    const { app } = scene()
    const body = payload === undefined ? {} : { payload }
    const response = await app.inject({ method, url, ...body })
    expect(response.statusCode).toBe(status)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual(failed(code))
  })

  test('405 says which method there is', async () => {
    const { app } = scene()
    expect((await app.inject('/domain/sign')).headers.allow).toBe('POST')
  })

  test('what is no HTTP', async () => {
    const { app } = scene()
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const answer = await sendRaw(url, 'NONSENSE\r\n\r\n')
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(body)).toEqual(failed('MALFORMED_REQUEST'))
  })

  test('headers beyond their bound', async () => {
    const { app } = scene({ conduct: 'celo' })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const long = `GET /status HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
    const answer = await sendRaw(url, long)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual(failed('HEADERS_TOO_LARGE'))
  })
})

describe('outer limits', () => {
  test('come first: what they drop costs the domain nothing, and a body too large counts', async () => {
    const { app, store } = scene({ perAddress: { count: 2, period: '1h' } })
    const sign = { method: 'POST', url: '/domain/sign' } as const
    const large = { ...sign, payload: ' '.repeat(MAX_BODY_BYTES + 1) }
    expect((await app.inject(large)).statusCode).toBe(413)
    expect((await app.inject({ ...sign, payload: '{}' })).statusCode).toBe(400)
    const dropped = await app.inject({ ...sign, payload: requestFor(sample(), { nonce: 0 }) })
    expect(dropped.statusCode).toBe(429)
    expect(Number(dropped.headers['retry-after'])).toBeGreaterThan(0)
    expect(dropped.json()).toEqual(failed('OUTER_LIMIT'))
    expect(await store.scan('', 10)).toEqual([])
  })

  test('a proxy that is trusted names the client; any other does not', async () => {
    const perAddress = { count: 1, period: '1h' }
    const ask = (app: ReturnType<typeof scene>['app'], client: string) =>
      app.inject({
        method: 'POST',
        url: '/domain/sign',
        headers: { 'x-forwarded-for': client },
        payload: '{}',
      })
    const { app: open } = scene({ perAddress, trustProxy: ['127.0.0.1'] })
    expect((await ask(open, '192.0.2.1')).statusCode).toBe(400)
    expect((await ask(open, '192.0.2.2')).statusCode).toBe(400)
    const { app: direct } = scene({ perAddress })
    expect((await ask(direct, '192.0.2.1')).statusCode).toBe(400)
    expect((await ask(direct, '192.0.2.2')).statusCode).toBe(429)
  })
})

describe('for whoever runs it', () => {
  test('alive, ready, and not ready once the store is gone', async () => {
    const { app, store } = scene()
    expect((await app.inject('/livez')).json()).toEqual({ alive: true })
    expect((await app.inject('/readyz')).json()).toEqual({ ready: true, reasons: [] })
    await store.close()
    const unready = await app.inject('/readyz')
    expect(unready.statusCode).toBe(503)
    expect(unready.json()).toMatchObject({ ready: false })
  })

  test('metrics count answers by endpoint and outcome, and name no domain', async () => {
    const { app } = scene()
    const payload = requestFor(sample(), { nonce: 0 })
    for (let i = 0; i < 2; i++) await app.inject({ method: 'POST', url: '/domain/sign', payload })
    await app.inject({ method: 'POST', url: '/domain/disable', payload: '{}' })
    const text = (await app.inject('/metrics')).body
    expect(text).toContain('headgate_signer_answers_total{endpoint="sign",outcome="signed"} 1')
    expect(text).toContain('headgate_signer_answers_total{endpoint="sign",outcome="retried"} 1')
    expect(text).toContain('{endpoint="disable",outcome="MALFORMED_REQUEST"} 1')
    expect(text).toContain('headgate_http_requests_total{route="/domain/sign",status="200"} 2')
    expect(text).not.toContain('Sequential')
  })
})

/** The whole answer to bytes that fetch would not send. */
const sendRaw = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
