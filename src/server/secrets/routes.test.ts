/** The signer over HTTP: CIP-40's JSON for every status, the server's own included. */

import { connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { replyTo } from '../../../test/support/odis-http.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import type { Store } from '../../core/store.ts'
import { type Conduct, MAX_SIGNER_BODY_BYTES } from '../../secrets/index.ts'
import { VERSION } from '../app/version.ts'

const sample = samples('http')['sequential delay']

const failed = (code: string) => ({
  success: false,
  version: VERSION,
  error: expect.stringMatching(new RegExp(`^${code} `)),
})

describe("CIP-40's JSON", () => {
  test('signs, names the key version, and refuses with Retry-After', async () => {
    const { app } = signerBench()
    const ask = (nonce: number) =>
      app.inject({
        method: 'POST',
        url: '/domain/sign?any=query',
        payload: requestFor(sample, { nonce }),
      })
    const first = await ask(0)
    expect(first.statusCode).toBe(200)
    expect(first.headers['odis-key-version']).toBe('1')
    expect(first.json()).toMatchObject({ success: true, version: VERSION, status: { counter: 1 } })
    await ask(1)
    const third = await ask(2)
    expect(third.statusCode).toBe(429)
    expect(third.headers['retry-after']).toBe('60')
    expect(third.json()).toMatchObject(failed('OVER_QUOTA'))
  })

  const TOO_LONG = ' '.repeat(MAX_SIGNER_BODY_BYTES + 1)
  const wrong = [
    ['another path', 'POST', '/nowhere', '{}', 404, 'ROUTE_UNKNOWN'],
    ['another method', 'GET', '/domain/sign', undefined, 405, 'METHOD_UNSUPPORTED'],
    ['a method for /status', 'DELETE', '/status', undefined, 405, 'METHOD_UNSUPPORTED'],
    ['a path that is badly encoded', 'POST', '/domain/%zz', '{}', 400, 'MALFORMED_REQUEST'],
    ['no body', 'POST', '/domain/sign', undefined, 400, 'MALFORMED_REQUEST'],
    ['no JSON', 'POST', '/domain/sign', '{', 400, 'MALFORMED_REQUEST'],
    ['no UTF-8', 'POST', '/domain/sign', Buffer.of(34, 255, 34), 400, 'MALFORMED_REQUEST'],
    ['a body beyond its bound', 'POST', '/domain/disable', TOO_LONG, 413, 'BODY_TOO_LARGE'],
  ] as const
  test.each(wrong)('%s', async (_, method, url, payload, status, code) => {
    const { app } = signerBench()
    const body = payload === undefined ? {} : { payload }
    const response = await app.inject({ method, url, ...body })
    expect(response.statusCode).toBe(status)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual(failed(code))
  })

  test('405 names the method that there is', async () => {
    const { app } = signerBench()
    expect((await app.inject('/domain/sign')).headers.allow).toBe('POST')
  })

  test('GET /status has the version', async () => {
    const { app } = signerBench()
    expect((await app.inject('/status')).json()).toEqual({ version: VERSION })
  })
})

describe.each<Conduct>(['cip40', 'celo'])(
  "the server's own refusals and faults, as %s",
  (conduct) => {
    /** What came back over a connection, which then ends. */
    const answerTo = async (url: string, text: string) => {
      const [head = '', body = ''] = (await sendRaw(url, text)).split('\r\n\r\n')
      expect(head).toMatch(/^content-type: application\/json; charset=utf-8$/m)
      expect(head).toMatch(/^connection: close$/m)
      return { head, body: JSON.parse(body) }
    }

    test('400 for what is no HTTP', async () => {
      const bench = signerBench({ conduct })
      const { head, body } = await answerTo(await bench.url(), 'NONSENSE\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
      expect(body).toEqual(failed(conduct === 'celo' ? 'CELO_ODIS_WARN_01' : 'MALFORMED_REQUEST'))
    })

    test('408 for a body that does not come to its end', async () => {
      const bench = signerBench({ conduct })
      const url = await bench.url()
      // The real bounds take half a minute; that they are set is what the next line shows.
      expect(bench.app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 })
      Object.assign(bench.app.server, { headersTimeout: 1, requestTimeout: 1 })
      const begun = 'POST /domain/sign HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"domain":'
      const logged = vi.spyOn(bench.app.log, 'error')
      const { head, body } = await answerTo(url, begun)
      expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
      expect(body).toEqual(failed('REQUEST_TIMEOUT'))
      expect(bench.events).toEqual([])
      await bench.app.close()
      expect(logged).not.toHaveBeenCalled()
    })

    test('431 for headers beyond their bound', async () => {
      const bench = signerBench({ conduct })
      const long = `GET /status HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
      const { head, body } = await answerTo(await bench.url(), long)
      expect(head).toMatch(/^HTTP\/1\.1 431 /)
      expect(body).toEqual(failed('HEADERS_TOO_LARGE'))
    })

    const fault = conduct === 'celo' ? 'CELO_ODIS_ERR_00' : 'SIGNER_FAULT'

    test('500 for a store that breaks, at every endpoint, without the reason', async () => {
      const { store } = signerBench()
      const broken: Store = {
        ...store,
        transact: () => Promise.reject(new Error('a private matter')),
      }
      const bench = signerBench({ conduct, store: broken })
      for (const endpoint of ['sign', 'quotaStatus', 'disable'] as const) {
        const reply = await bench.ask(endpoint, requestFor(sample, { endpoint, nonce: 0 }))
        expect(reply.status).toBe(500)
        expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
        expect(reply.body).toEqual(failed(fault))
        expect(JSON.stringify(reply)).not.toContain('private')
      }
      expect(bench.evaluations()).toBe(0)
    })

    test('500 for what fails outside of the signer too', async () => {
      const observe = () => {
        throw new Error('a private matter')
      }
      const bench = signerBench({ conduct, observe })
      const reply = await replyTo(`${await bench.url()}/domain/sign`, '{}')
      expect(reply.status).toBe(500)
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(reply.body).toEqual(failed(fault))
      expect(JSON.stringify(reply)).not.toContain('private')
    })
  },
)

describe('outer limits', () => {
  test('come first: what they drop costs the domain nothing, and a body too large counts', async () => {
    const { app, store } = signerBench({ limits: { perAddress: { count: 2, period: '1h' } } })
    const sign = { method: 'POST', url: '/domain/sign' } as const
    const large = { ...sign, payload: ' '.repeat(MAX_SIGNER_BODY_BYTES + 1) }
    expect((await app.inject(large)).statusCode).toBe(413)
    expect((await app.inject({ ...sign, payload: '{}' })).statusCode).toBe(400)
    const dropped = await app.inject({ ...sign, payload: requestFor(sample, { nonce: 0 }) })
    expect(dropped.statusCode).toBe(429)
    expect(dropped.headers['retry-after']).toBe('1800')
    expect(dropped.json()).toEqual(failed('OUTER_LIMIT'))
    expect(await everything(store)).toEqual([])
  })

  test('a proxy that is trusted names the client; any other does not', async () => {
    const limits = { perAddress: { count: 1, period: '1h' } }
    const ask = (app: ReturnType<typeof signerBench>['app'], client: string) =>
      app.inject({
        method: 'POST',
        url: '/domain/sign',
        headers: { 'x-forwarded-for': client },
        payload: '{}',
      })
    const { app: open } = signerBench({ limits, trustProxy: ['127.0.0.1'] })
    expect((await ask(open, '192.0.2.1')).statusCode).toBe(400)
    expect((await ask(open, '192.0.2.2')).statusCode).toBe(400)
    const { app: direct } = signerBench({ limits })
    expect((await ask(direct, '192.0.2.1')).statusCode).toBe(400)
    expect((await ask(direct, '192.0.2.2')).statusCode).toBe(429)
  })
})

describe('for the operator', () => {
  test('alive, ready, and not ready once the store is gone', async () => {
    const { app, store } = signerBench()
    expect((await app.inject('/livez')).json()).toEqual({ alive: true })
    expect((await app.inject('/readyz')).json()).toEqual({ ready: true, reasons: [] })
    await store.close()
    const unready = await app.inject('/readyz')
    expect(unready.statusCode).toBe(503)
    expect(unready.json()).toMatchObject({ ready: false })
  })

  test('metrics count answers by endpoint and outcome, and name no domain', async () => {
    const { app } = signerBench()
    const payload = requestFor(sample, { nonce: 0 })
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
