import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { testServer } from '../support/headgate.ts'
import { ROOT } from '../support/sources.ts'

const guide = `${ROOT}docs/guide/`
const declared = readdirSync(guide).flatMap((page) =>
  [
    ...readFileSync(guide + page, 'utf8').matchAll(/^ *((\w+): \{ id: (client|ipAddress).*\})$/gm),
  ].map(([, limits = '', limit = '', format]) => ({ page, limits, limit, format })),
)

test('a proxy in the guide counts its clients as clients, not address by address', () => {
  expect(declared.map(({ page }) => page)).toContain('nginx.md')
  for (const { page, format } of declared) expect([page, format]).toEqual([page, 'client'])
})

describe.each(declared)('$page: $limit', ({ limits, limit }) => {
  test('five addresses of one /64 share a bucket, and a /64 beside it has its own', async () => {
    const { app } = testServer({ catalog: acmeCatalog({ limits }) })
    const left = async (id: string) => {
      const reply = await app.inject(`/v1/gate?limit=${limit}&id=${id}`)
      return Number(/;r=(\d+)/.exec(String(reply.headers['ratelimit']))?.[1])
    }
    const first = await left('2001:db8:1:2::1')
    for (const [i, host] of ['2', '3', 'a:b', 'ffff'].entries()) {
      expect(await left(`2001:db8:1:2::${host}`)).toBe(first - 1 - i)
    }
    expect(await left('2001:db8:1:3::1')).toBe(first)
    expect(await left('203.0.113.7')).toBe(first)
    expect(await left('::ffff:203.0.113.7')).toBe(first - 1)
  })

  test('without an id the gate counts the other end of the connection in the same way', async () => {
    const { app } = testServer({ catalog: acmeCatalog({ limits }) })
    const left = async (remoteAddress: string) => {
      const reply = await app.inject({ url: `/v1/gate?limit=${limit}`, remoteAddress })
      return Number(/;r=(\d+)/.exec(String(reply.headers['ratelimit']))?.[1])
    }
    const first = await left('2001:db8:1:2::1')
    expect(await left('2001:db8:1:2::2')).toBe(first - 1)
  })
})
