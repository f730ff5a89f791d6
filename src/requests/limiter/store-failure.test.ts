/** When the store is down, each limit says whether its callers must suffer from it. */
import { expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { memory } from '../../stores/memory/index.ts'
import { createLimiter, type LimiterEvent } from './verbs.ts'

const LIMITS = `
  Logins: { id: opaque, burst: 3, count: 3, period: 1h }
  Pings: { id: opaque, burst: 3, count: 3, period: 1s, onStoreFailure: open }
`
const login = () => ({ limit: 'Logins', id: 'ann' })

const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
const broken = (): Store => ({ ...memory(), transact: () => Promise.reject(down) })
const events: LimiterEvent[] = []
const limiter = createLimiter({
  store: broken(),
  catalog: () => acmeCatalog({ limits: LIMITS }),
  observe: (event) => events.push(event),
})
const ping = { limit: 'Pings', id: 'ann' }

test('a limit that is closed rejects, and nothing passes', async () => {
  await expect(limiter.spend(login())).rejects.toBe(down)
  expect(events.at(-1)).toMatchObject({ kind: 'store-failure', open: false })
})

test('a limit that is open lets pass, and says why', async () => {
  const answer = await limiter.spend(ping)
  expect(answer).toMatchObject({
    allowed: true,
    reason: 'STORE_UNAVAILABLE',
    remaining: Infinity,
  })
  expect(events).toContainEqual({ kind: 'store-failure', error: down, open: true })
})

test('in a batch one closed limit keeps the gate closed', async () => {
  await expect(limiter.spend({ charges: [ping, login()] })).rejects.toBe(down)
})

test('a try has no say in it', async () => {
  const charges = [ping, { ...login(), mode: 'try' as const }]
  expect((await limiter.spend({ charges })).allowed).toBe(true)
})

test('refunds and resets are never pretended', async () => {
  await expect(limiter.refund(ping)).rejects.toBe(down)
  await expect(limiter.reset(ping)).rejects.toBe(down)
})
