import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { StoreError } from '../../core/errors.ts'
import { seconds } from '../../core/time.ts'
import { ACME } from '../../requests/acme/formats.ts'
import { parseCatalog } from '../../requests/yaml.ts'

const catalog = parseCatalog({
  vocabulary: ACME,
  limits: `
Exports: { id: opaque, atOnce: 2, heldFor: 30s }
PerDomain: { id: domain, atOnce: 1, heldFor: 30s }
Lenient: { id: opaque, atOnce: 2, heldFor: 30s, onStoreFailure: open }
Logins: { id: opaque, burst: 1, period: 1m }
Tried: { id: opaque, burst: 1, period: 1m, shadow: true }
`,
})

const open = (options: Parameters<typeof testServer>[0] = {}) => {
  const server = testServer({ catalog, ...options })
  const post = (path: string, payload: object) =>
    server.app.inject({ method: 'POST', url: `/v1/${path}`, payload })
  return { ...server, post }
}

describe('POST /v1/acquire', () => {
  test('gives a place, and says when it comes back by itself', async () => {
    const { post } = open()
    const reply = await post('acquire', { limit: 'Exports', id: 'a', operationId: 'job-1' })
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toEqual({
      allowed: true,
      placeId: 'job-1',
      expiresAt: '2024-01-01T00:00:30.000000Z',
      remaining: 1,
      retryAfterMs: 0,
    })
    const again = await post('acquire', { limit: 'Exports', id: 'a', operationId: 'job-1' })
    expect(again.json()).toEqual({ ...reply.json(), replayed: true })
  })

  test('refuses with Retry-After once all are taken, until one is released or its time is over', async () => {
    const { post, clock } = open()
    const acquire = () => post('acquire', { limit: 'Exports', id: 'a', heldFor: '10s' })
    const first = (await acquire()).json()
    await acquire()
    const refused = await acquire()
    expect(refused.headers['retry-after']).toBe('10')
    expect(refused.json()).toEqual({
      allowed: false,
      reason: 'ALL_TAKEN',
      remaining: 0,
      retryAfterMs: 10_000,
    })
    const release = () => post('release', { placeId: first.placeId })
    expect((await release()).json()).toEqual({ released: true })
    expect((await release()).json()).toEqual({ released: false })
    expect((await acquire()).json().allowed).toBe(true)
    expect((await acquire()).json().allowed).toBe(false)
    clock.advance(seconds(10))
    expect((await acquire()).json()).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('builds the id from parts', async () => {
    const { post } = open()
    const ask = (value: string) => ({
      limit: 'PerDomain',
      parts: { identifier: { type: 'dns', value } },
    })
    expect((await post('acquire', ask('www.example.com'))).json().allowed).toBe(true)
    expect((await post('acquire', ask('mail.example.com'))).json().allowed).toBe(false)
    expect((await post('acquire', ask('example.org'))).json().allowed).toBe(true)
  })

  test.each([
    [{ limit: 'Logins', id: 'a' }, 'LIMIT_KIND'],
    [{ limit: 'Export', id: 'a' }, 'LIMIT_UNKNOWN'],
    [{ limit: 'Exports' }, 'ID_MISSING'],
    [{ limit: 'Exports', id: 'a', heldFor: '30' }, 'DURATION_INVALID'],
    [{ limit: 'Exports', id: 'a', operationId: 'a b' }, 'OPERATION_ID_INVALID'],
    [{ limit: 'Exports', id: 'a', cost: 2 }, 'BODY_INVALID'],
  ])('%j is a mistake', async (payload, code) => {
    const reply = await open().post('acquire', payload)
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code })
  })

  test('while the store is down answers as the limit says', async () => {
    const wrap = <T extends object>(store: T): T => ({
      ...store,
      transact: async () => {
        throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'it', rule: 'is down' })
      },
    })
    const { post } = open({ wrap })
    expect((await post('acquire', { limit: 'Exports', id: 'a' })).statusCode).toBe(503)
    expect((await post('acquire', { limit: 'Lenient', id: 'a' })).json()).toEqual({
      allowed: true,
      reason: 'STORE_UNAVAILABLE',
      remaining: null,
      retryAfterMs: 0,
    })
  })
})

test('limits say how many may run at once, and whether they are shadows', async () => {
  const { app, post } = open()
  expect((await app.inject('/v1/limits/Exports')).json()).toMatchObject({
    places: { atOnce: 2, heldFor: '30s' },
  })
  expect((await app.inject('/v1/limits/Tried')).json()).toMatchObject({ shadow: true })
  await post('acquire', { limit: 'Exports', id: 'a' })
  expect((await app.inject('/v1/limits/Exports/a')).json()).toMatchObject({
    source: 'default',
    allowed: true,
    remaining: 1,
    retryAfterMs: 0,
    resetAfterMs: null,
  })
})

test('a shadow limit tells what it would have refused, in the answer and in the metrics', async () => {
  const { app, post } = open()
  await post('spend', { limit: 'Tried', id: 'a' })
  const reply = await post('spend', { limit: 'Tried', id: 'a' })
  expect(reply.json()).toMatchObject({
    allowed: true,
    charges: [{ limit: 'Tried', allowed: false, reason: 'RATE_LIMIT', shadow: true }],
  })
  expect(reply.json().violated).toBeUndefined()
  expect(reply.headers).not.toHaveProperty('ratelimit')
  await post('acquire', { limit: 'Exports', id: 'a' })
  const metrics = (await app.inject('/metrics')).body
  for (const labels of [
    'limit="Tried",verb="spend",outcome="allowed"',
    'limit="Tried",verb="spend",outcome="shadow"',
    'limit="Exports",verb="acquire",outcome="allowed"',
  ]) {
    expect(metrics).toContain(`headgate_decisions_total{${labels}} 1`)
  }
})
