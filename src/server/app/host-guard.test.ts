import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'

const spend = (headers: Record<string, string>, app = testServer().app) =>
  app.inject({ method: 'POST', url: '/v1/spend', payload: { limit: 'PerKey', id: 'k' }, headers })

test.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080'])(
  'a server without tokens answers to %s',
  async (host) => {
    expect((await spend({ host })).statusCode).toBe(200)
  },
)

test('a name that was pointed at this machine from outside is refused', async () => {
  const reply = await spend({ host: 'rebound.example:8080' })
  expect(reply.statusCode).toBe(403)
  expect(reply.json()).toMatchObject({
    code: 'HOST_NOT_ALLOWED',
    finding: '"rebound.example:8080"',
  })
})

test('metrics are kept from such a name too', async () => {
  const reply = await testServer().app.inject({
    url: '/metrics',
    headers: { host: 'evil.example' },
  })
  expect(reply.statusCode).toBe(403)
})

test.each([
  { origin: 'https://evil.example' },
  { origin: 'http://localhost:3000' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
])('a page from elsewhere is refused: %j', async (headers) => {
  const reply = await spend({ host: 'localhost:8080', ...headers })
  expect(reply.statusCode).toBe(403)
  expect(reply.json()).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' })
})

test('a page of the server itself is welcome', async () => {
  const headers = { host: 'localhost:8080', origin: 'http://localhost:8080' }
  expect((await spend({ ...headers, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200)
})

test('with tokens the token decides, and any host and origin will do', async () => {
  const sha256 = createHash('sha256').update('hg_a').digest('hex')
  const { app } = testServer({ settings: { tokens: [{ name: 'a', sha256, scopes: ['decide'] }] } })
  const headers = { host: 'limits.example', origin: 'https://shop.example' }
  expect((await spend({ ...headers, authorization: 'Bearer hg_a' }, app)).statusCode).toBe(200)
})
