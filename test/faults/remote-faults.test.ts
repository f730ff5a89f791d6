/** What becomes of calls when a server or the way to it fails: nothing extra, no endless wait, no restart. */
import { describe, expect, test } from 'vitest'
import { millis } from '../../src/core/time.ts'
import { createLimiter } from '../../src/requests/limiter/verbs.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { addOne, counted, entriesOf, untilItAnswers } from '../support/hot-count.ts'
import { openProxy } from '../support/proxy.ts'
import { isCommit, isRetry } from '../support/remote-contract.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'

/** What a killed server must have kept. */
const SETTINGS = {
  redis: ['--appendonly', 'yes', '--appendfsync', 'always'],
  cluster: ['--appendonly', 'yes', '--appendfsync', 'always'],
  postgres: [],
} as const

const UNAVAILABLE = expect.objectContaining({ code: 'STORE_UNAVAILABLE' })
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

for (const kind of ['redis', 'postgres', 'cluster'] as const) {
  const has = (await sharedUrl(kind)) !== undefined
  const open = async (timeout = 500) => {
    const service = await ownService(kind, SETTINGS[kind])
    const place = placeAt(kind, service.url)
    return { service, place, store: place.open({ timeout: millis(timeout) }) }
  }

  describe.skipIf(!has)(kind, () => {
    test('killed and restarted under load: each effect that was told is there, each at most once', async () => {
      const { service, store } = await open()
      const told: number[] = []
      let failed = 0
      let isOver = false
      const lane = async () => {
        while (!isOver) {
          await addOne(store)
            .then((count) => told.push(count))
            .catch((error) => {
              expect(error).toEqual(UNAVAILABLE)
              failed += 1
              return new Promise((resolve) => setTimeout(resolve, 5))
            })
        }
      }
      const lanes = upTo(8).map(lane)
      for (let round = 0; round < 2; round++) {
        const before = told.length
        await untilItAnswers(async () => expect(told.length).toBeGreaterThan(before))
        await service.restart()
      }
      const before = told.length
      await untilItAnswers(async () => expect(told.length).toBeGreaterThan(before))
      isOver = true
      await Promise.all(lanes)
      const count = await counted(store)
      expect(failed).toBeGreaterThan(0)
      expect(new Set(told).size).toBe(told.length)
      expect(count).toBeGreaterThanOrEqual(told.length)
      expect(count).toBeLessThanOrEqual(told.length + failed)
      expect(await entriesOf(store)).toEqual(upTo(count).slice(0, 10_000))
      await store.close()
    })
  })
}

for (const kind of ['redis', 'postgres'] as const) {
  const has = (await sharedUrl(kind)) !== undefined
  /** On a server of its own, behind a network of its own. */
  const open = async (timeout = 500) => {
    const service = await ownService(kind, SETTINGS[kind])
    const place = placeAt(kind, service.url)
    const [port = 0] = service.ports
    const proxy = await openProxy({ port, isCommit, isRetry })
    const store = place.open({ timeout: millis(timeout) }, proxy.port)
    await untilItAnswers(() => store.opened())
    const near = place.open({ timeout: millis(120_000), patience: millis(120_000) })
    const close = async () => {
      await Promise.all([store.close(), near.close()])
      await proxy.close()
    }
    return { service, place, proxy, store, near, close }
  }

  describe.skipIf(!has)(`${kind}, and the way to it`, () => {
    test('a network that swallows everything costs one bounded wait, then nobody waits; and it heals', async () => {
      const { proxy, store, close } = await open()
      await untilItAnswers(() => addOne(store))
      proxy.mode = 'mute'
      await expect(addOne(store)).rejects.toEqual(UNAVAILABLE)
      const failing = await Promise.allSettled(upTo(1_000).map(() => addOne(store)))
      expect(failing.every(({ status }) => status === 'rejected')).toBe(true)
      proxy.mode = 'pass'
      proxy.cut()
      const count = await untilItAnswers(() => addOne(store))
      expect(await entriesOf(store)).toEqual(upTo(count))
      await close()
    })

    test('a connection whose other end is gone without a word is given up, and a new one leads on', async () => {
      const { proxy, store, close } = await open()
      await untilItAnswers(() => addOne(store))
      proxy.mode = 'lost'
      await expect(addOne(store)).rejects.toEqual(UNAVAILABLE)
      const count = await untilItAnswers(() => addOne(store))
      expect(await entriesOf(store)).toEqual(upTo(count))
      await close()
    })

    test('a spend whose reply was lost is charged; made again by its id, it is not charged twice', async () => {
      const { proxy, store, near, close } = await open(60_000)
      const limits = 'Orders: { id: opaque, burst: 20, count: 1, period: 24h }'
      const catalog = acmeCatalog({ limits })
      const limiter = createLimiter({ store, catalog: () => catalog })
      const other = createLimiter({ store: near, catalog: () => catalog })
      const order = { limit: 'Orders', id: 'one' }
      await limiter.spend(order)
      proxy.mode = 'lose'
      const spend = { ...order, operationId: 'first' }
      await expect(limiter.spend(spend)).rejects.toEqual(UNAVAILABLE)
      proxy.mode = 'pass'
      expect(await other.check(order)).toMatchObject({ allowed: true, remaining: 17 })
      const again = await untilItAnswers(() => limiter.spend(spend))
      expect(again).toMatchObject({ allowed: true, remaining: 18 })
      expect(await other.check(order)).toMatchObject({ remaining: 17 })
      await close()
    })

    test('a server far away does not starve beside one that is near and never rests', async () => {
      const { proxy, store, near, close } = await open(120_000)
      proxy.delayMs = 10
      let isOver = false
      let turns = 0
      const hammer = upTo(4).map(async () => {
        while (!isOver) {
          await addOne(near)
          turns += 1
        }
      })
      for (let i = 0; i < 5; i++) await addOne(store)
      isOver = true
      await Promise.all(hammer)
      expect(await counted(near)).toBe(turns + 5)
      await close()
    })
  })
}
