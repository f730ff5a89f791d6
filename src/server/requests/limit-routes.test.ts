import { expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { testServer } from '../../../test/support/headgate.ts'
import { MAX_LIST_PAGE } from '../app/bounds.ts'

test('GET /v1/limits lists every known limit by name, with counts instead of overrides', async () => {
  const { limits, next } = (await testServer().app.inject('/v1/limits')).json()
  const names = limits.map(({ name }: { name: string }) => name)
  expect(names).toEqual([...names].sort())
  expect(names).toEqual(expect.arrayContaining(['PerKey', 'CertificatesPerDomain']))
  expect(limits).toContainEqual({
    name: 'NewOrdersPerAccount',
    number: 3,
    idFormat: 'regId',
    onStoreFailure: 'closed',
    default: { burst: 300, count: 300, period: '3h0m0s' },
    overrides: 1,
  })
  expect(next).toBeUndefined()
})

test('a long list comes in pages', async () => {
  const name = (i: number) => `L${String(i).padStart(5, '0')}`
  const limits = Array.from({ length: MAX_LIST_PAGE + 5 }, (_, i) => `${name(i)}: { id: opaque }`)
  const { app } = testServer({ catalog: acmeCatalog({ limits: limits.join('\n') }) })
  const first = (await app.inject('/v1/limits')).json()
  expect(first.limits).toHaveLength(MAX_LIST_PAGE)
  const rest = (await app.inject(`/v1/limits?after=${first.next}`)).json()
  expect(first.limits.length + rest.limits.length).toBe(MAX_LIST_PAGE + 5 + 9)
  expect(rest.next).toBeUndefined()
})

test('GET /v1/limits/{name} shows one', async () => {
  const reply = await testServer().app.inject('/v1/limits/PerKey')
  expect(reply.json()).toMatchObject({ name: 'PerKey', idFormat: 'opaque', overrides: 0 })
})

test.each(['/v1/limits/PerKye', '/v1/limits/PerKye/a'])(
  '%s leads nowhere, and the nearest name is suggested',
  async (url) => {
    const reply = await testServer().app.inject(url)
    expect(reply.statusCode).toBe(404)
    expect(reply.json()).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      status: 404,
      finding: expect.stringContaining('PerKey'),
    })
  },
)

test('GET /v1/limits/{name}/{id} shows the default in force and what is left, charging nothing', async () => {
  const { app } = testServer()
  const payload = { limit: 'NewOrdersPerAccount', id: '5', cost: 100 }
  await app.inject({ method: 'POST', url: '/v1/spend', payload })
  for (let i = 0; i < 2; i++) {
    expect((await app.inject('/v1/limits/NewOrdersPerAccount/5')).json()).toMatchObject({
      id: '5',
      bucket: '3:5',
      source: 'default',
      inForce: { burst: 300, count: 300, period: '3h0m0s' },
      allowed: true,
      remaining: 200,
      resetAfterMs: 3_600_000,
    })
  }
})

test('an override is shown with its comment', async () => {
  const reply = await testServer().app.inject('/v1/limits/NewOrdersPerAccount/77')
  expect(reply.json()).toMatchObject({
    source: 'override',
    override: { id: '77', comment: 'on probation' },
    inForce: { burst: 2, count: 2, period: '1h0m0s' },
    remaining: 2,
  })
})

test('where nothing is in force, nothing is shown as in force', async () => {
  const reply = await testServer().app.inject('/v1/limits/OnlyOverrides/a')
  expect(reply.json()).toMatchObject({ source: 'disabled', reason: 'DISABLED', remaining: null })
  expect(reply.json()).not.toHaveProperty('inForce')
})

test.each(['a/b', 'https://x.example/?y=1', '2001:db8::1', 'with space', 'ä%'])(
  'an id may hold anything, percent-encoded: %s',
  async (id) => {
    const reply = await testServer().app.inject(`/v1/limits/PerKey/${encodeURIComponent(id)}`)
    expect(reply.json()).toMatchObject({ id, remaining: 3 })
  },
)
