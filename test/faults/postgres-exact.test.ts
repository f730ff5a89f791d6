/** Limits on a PostgreSQL that fails in every way at once: exactly the burst is admitted, and the policy of each limit acts. */
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { millis } from '../../src/core/time.ts'
import { createLimiter, type Limiter } from '../../src/requests/limiter/verbs.ts'
import type { StoreEvent } from '../../src/stores/remote/line.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { times } from '../support/counts.ts'
import { untilItAnswers } from '../support/hot-count.ts'
import { openProxy } from '../support/proxy.ts'
import { isCommit } from '../support/remote-contract.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const BURST = 20
const REST = `id: opaque, burst: ${BURST}, count: 1, period: 24h`
const LIMITS = `{ Strict: { ${REST} }, Kind: { ${REST}, onStoreFailure: open } }`
const CATALOG = acmeCatalog({ limits: LIMITS })

/** Two servers on one database that the test may end: one beside it, one behind a network of its own. */
const open = async () => {
  const service = await ownService('postgres')
  const [port = 0] = service.ports
  const proxy = await openProxy({ port, isCommit })
  const place = placeAt('postgres', service.url)
  const timeout = millis(1_000)
  const trips = { failed: 0 }
  const observe = (event: StoreEvent): void => {
    if (event.kind === 'trip' && event.outcome !== 'answered') trips.failed += 1
  }
  const [near, far] = [place.open({ timeout }), place.open({ timeout, observe }, proxy.port)]
  onTestFinished(async () => {
    await Promise.all([near.close(), far.close()])
    await proxy.close()
  })
  const limiters = [near, far].map((store) => createLimiter({ store, catalog: () => CATALOG }))
  await Promise.all([near, far].map((store) => untilItAnswers(() => store.opened())))
  return { service, proxy, limiters, trips }
}

const asRoot = async (url: string, text: string): Promise<void> => {
  const client = new Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.query(text).finally(() => client.end())
}

const FAULTS: readonly ((world: Awaited<ReturnType<typeof open>>) => Promise<void>)[] = [
  async ({ service }) =>
    asRoot(
      service.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headgate'",
    ),
  async ({ proxy }) => proxy.cut(),
  async ({ proxy }) => {
    proxy.mode = 'lose'
  },
  async ({ proxy }) => {
    proxy.mode = 'mute'
  },
  async ({ service, proxy }) => {
    heal(proxy)
    await service.restart()
  },
  async ({ proxy }) => {
    proxy.delayMs = 200
  },
]

function heal(proxy: Awaited<ReturnType<typeof openProxy>>): void {
  proxy.mode = 'pass'
  proxy.delayMs = 0
  proxy.cut()
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Asked again by the same id until it is answered: a reply that was lost is told then. */
const insist = async (limiter: Limiter | undefined, operationId: string): Promise<boolean> => {
  const spend = () => limiter?.spend({ limit: 'Strict', id: 'one', operationId })
  return (await untilItAnswers(async () => spend()))?.allowed === true
}

describe.skipIf((await sharedUrl('postgres')) === undefined)('PostgreSQL that fails', () => {
  test('again and again, under load: exactly the burst is admitted, whoever asks again', async () => {
    const world = await open()
    const { limiters, proxy, trips } = world
    for (let round = 0; round < times(1, 5); round++) {
      await untilItAnswers(async () => limiters[0]?.reset({ limit: 'Strict', id: 'one' }))
      let answered = 0
      const asked = Array.from({ length: 3 * BURST }, async (_, i) => {
        // A few at a time, so that some are left for every fault.
        await until(() => answered >= i - 6)
        const allowed = await insist(limiters[i % 2], `${round}-${i}`)
        answered += 1
        return allowed
      })
      for (const [i, fault] of FAULTS.entries()) {
        await until(() => answered >= 3 * (i + 1))
        const before = trips.failed
        await fault(world)
        if (proxy.mode === 'pass') continue
        // It has struck.
        await until(() => trips.failed > before)
        heal(proxy)
      }
      const answers = await Promise.all(asked)
      expect(answers.filter(Boolean)).toHaveLength(BURST)
      heal(proxy)
    }
  })

  test('and cannot be reached: a closed limit fails, an open one lets pass and says so, and neither forgets', async () => {
    const { limiters, proxy } = await open()
    const [near, far] = limiters
    const one = { id: 'one' }
    for (const limit of ['Strict', 'Kind']) await far?.spend({ ...one, limit })
    proxy.mode = 'mute'
    await expect(far?.spend({ ...one, limit: 'Strict' })).rejects.toThrow(StoreError)
    for (let i = 0; i < 2 * BURST; i++) {
      expect(await far?.spend({ ...one, limit: 'Kind' })).toMatchObject({
        allowed: true,
        reason: 'STORE_UNAVAILABLE',
      })
    }
    // One closed limit keeps the gate closed.
    const both = {
      charges: [
        { ...one, limit: 'Kind' },
        { ...one, limit: 'Strict' },
      ],
    }
    await expect(far?.spend(both)).rejects.toThrow(StoreError)
    expect(await near?.check({ ...one, limit: 'Kind' })).toMatchObject({ remaining: BURST - 2 })
    heal(proxy)
    const again = { ...one, limit: 'Strict', operationId: 'again' }
    const found = await untilItAnswers(async () => far?.spend(again))
    expect(found).toMatchObject({ allowed: true, remaining: BURST - 2 })
  })
})
