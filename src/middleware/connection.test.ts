import { expect, test } from 'vitest'
import { connectionAddress, platformTrust } from './connection.ts'

const request = (headers: Record<string, string> = {}) =>
  new Request('https://example.com/', { headers })

test.each<[string, object]>([
  ['Bun', { requestIP: () => ({ address: '203.0.113.7', port: 1, family: 'IPv4' }) }],
  ['Deno', { remoteAddr: { transport: 'tcp', hostname: '203.0.113.7', port: 1 } }],
  ['Node under Hono', { incoming: { socket: { remoteAddress: '203.0.113.7' } }, outgoing: {} }],
  [
    'Node under Hono with bindings',
    { server: { incoming: { socket: { remoteAddress: '203.0.113.7' } } } },
  ],
])('%s tells the address', (_, platform) => {
  expect(connectionAddress(request(), platform)).toBe('203.0.113.7')
})

test.each([undefined, null, {}, { params: Promise.resolve({}) }, { requestIP: () => null }, 7])(
  'in %o there is none',
  (platform) => {
    expect(connectionAddress(request(), platform)).toBeUndefined()
  },
)

test("Cloudflare's header is believed beside its cf, and not without", () => {
  const headers = { 'cf-connecting-ip': '203.0.113.7' }
  const there = Object.assign(request(headers), { cf: { colo: 'VIE' } })
  expect([connectionAddress(there, {}), platformTrust(there)]).toEqual(['203.0.113.7', 'some'])
  const elsewhere = request(headers)
  expect([connectionAddress(elsewhere, {}), platformTrust(elsewhere)]).toEqual([undefined, 'none'])
})
