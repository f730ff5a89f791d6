import { expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'

test('a healthy server lives and is ready', async () => {
  const { app } = testServer()
  expect((await app.inject('/livez')).json()).toEqual({ alive: true })
  const ready = await app.inject('/readyz')
  expect(ready.statusCode).toBe(200)
  expect(ready.json()).toEqual({
    ready: true,
    reasons: [],
    store: { kind: 'sqlite', breaker: 'closed', onStoreFailure: { open: 1, closed: 3 } },
    catalog: { stale: false },
  })
})

test('a stale catalog is told, and leaves the server ready: the last good one is in force', async () => {
  const { app, headgate } = testServer()
  headgate.catalogStatus = { loadedAt: 0, problem: 'limits.yml:3:5: burst: must be positive' }
  const ready = await app.inject('/readyz')
  expect(ready.statusCode).toBe(200)
  expect(ready.json()).toMatchObject({
    ready: true,
    catalog: { stale: true, problem: 'limits.yml:3:5: burst: must be positive' },
  })
  expect((await app.inject('/metrics')).body).toContain('\nheadgate_catalog_stale 1\n')
})

test('a store that is closed is not ready', async () => {
  const { app, headgate } = testServer()
  await headgate.close()
  const ready = await app.inject('/readyz')
  expect(ready.statusCode).toBe(503)
  expect(ready.json().reasons).toEqual([expect.stringContaining('store: the memory store')])
})

test('GET /metrics is the text that Prometheus reads', async () => {
  const { app } = testServer()
  await app.inject({ method: 'POST', url: '/v1/spend', payload: { limit: 'PerKey', id: 'k' } })
  await app.inject('/nowhere')
  const reply = await app.inject('/metrics')
  expect(reply.headers['content-type']).toContain('text/plain; version=0.0.4')
  expect(reply.body).toContain(
    'headgate_decisions_total{limit="PerKey",verb="spend",outcome="allowed"} 1',
  )
  expect(reply.body).toContain('headgate_http_requests_total{route="/v1/spend",status="200"} 1')
  expect(reply.body).toContain('headgate_http_requests_total{route="none",status="404"} 1')
})
