import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { configFolder } from '../../../test/support/config-folder.ts'
import { openHeadgate } from './headgate.ts'

const QUICK = 'limits: {Foos: {id: opaque, burst: 2, count: 1, period: 1h}}'
const TOKEN = `tokens: [{name: ci, sha256: ${'a'.repeat(64)}, scopes: [admin]}]`

const setUp = (text: string) => {
  const { path, write } = configFolder({ 'headgate.yml': text })
  const file = join(path, 'headgate.db')
  const flags = { config: join(path, 'headgate.yml'), store: `sqlite:${file}` }
  return { flags, file, write }
}

test('a limiter over the catalog and the store that the configuration names', async () => {
  const { flags, file } = setUp(QUICK)
  const first = await openHeadgate({ flags })
  const foo = { limit: 'Foos', id: 'ann' }
  expect(await first.limiter.spend(foo)).toMatchObject({ allowed: true, remaining: 1 })
  await first.close()
  expect(existsSync(file)).toBe(true)
  const second = await openHeadgate({ flags })
  onTestFinished(() => second.close())
  expect(await second.limiter.spend(foo)).toMatchObject({ allowed: true, remaining: 0 })
  expect(await second.limiter.spend(foo)).toMatchObject({ allowed: false, reason: 'RATE_LIMIT' })
})

test('a reloaded limit is felt by the next question', async () => {
  const { flags, write } = setUp(QUICK)
  const headgate = await openHeadgate({ flags })
  onTestFinished(() => headgate.close())
  write('headgate.yml', QUICK.replace('burst: 2', 'burst: 200'))
  await headgate.catalog.reload()
  expect(await headgate.limiter.check({ limit: 'Foos', id: 'ann' })).toMatchObject({
    remaining: 199,
  })
  expect(await headgate.metrics.text(headgate.catalog)).toContain(
    'headgate_catalog_reloads_total{outcome="loaded"} 1',
  )
})

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
  'without a token a server does not open on %s, and nothing is created',
  async (host) => {
    const { flags, file } = setUp(QUICK)
    await expect(openHeadgate({ flags: { ...flags, host }, serving: true })).rejects.toMatchObject({
      code: 'TOKEN_REQUIRED',
      rule: expect.stringContaining('headgate tokens new'),
    })
    expect(existsSync(file)).toBe(false)
  },
)

test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])(
  'without a token it opens on %s',
  async (host) => {
    const { flags } = setUp(QUICK)
    const headgate = await openHeadgate({ flags: { ...flags, host }, serving: true })
    await headgate.close()
  },
)

test('with a token it opens anywhere, and a command that does not listen needs none', async () => {
  const { flags } = setUp(`${TOKEN}\nhost: 0.0.0.0`)
  await (await openHeadgate({ flags, serving: true })).close()
  const open = setUp('host: 0.0.0.0')
  await (await openHeadgate({ flags: open.flags })).close()
})
