/** A Redis whose place another takes: all goes on without a restart, and what that may cost is known. */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { millis } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { times } from '../support/counts.ts'
import { untilItAnswers } from '../support/hot-count.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'
import { startSpends } from '../support/spend-load.ts'

const has = (await sharedUrl('redis')) !== undefined

const open = async (kind: 'sentinel' | 'replicated') => {
  const service = await ownService(kind)
  const store = placeAt(kind, service.url).open({ timeout: millis(500) })
  onTestFinished(() => store.close())
  await untilItAnswers(() => store.opened())
  return { service, store }
}

const clientOf = (port: number | undefined): Redis => {
  const client = new Redis(Number(port))
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return client
}

for (const kind of ['sentinel', 'replicated'] as const) {
  test.skipIf(!has)(
    `${kind}: a master that is killed is refused, then replaced, and nothing is charged that nobody asked for`,
    async () => {
      for (let round = 0; round < times(1, 5); round++) {
        const { service, store } = await open(kind)
        const load = startSpends(store)
        await load.goesOn()
        await service.kill()
        await load.isRefused()
        await load.goesOn()
        const { admitted, failed, charged } = await load.end()
        expect(charged).toBeLessThanOrEqual(admitted + failed)
      }
    },
  )
}

describe.skipIf(!has)('a failover to a replica that had fallen behind', () => {
  test('admits again what was admitted since, once, and no more', async () => {
    const { service, store } = await open('sentinel')
    const [primary, replica] = service.ports.map(clientOf)
    const gate = limiter({ store, limits: { Orders: { burst: 20, count: 1, period: '24h' } } })
    const spend = (count: number) =>
      Promise.all(Array.from({ length: count }, () => gate.spend('Orders', 'one')))
    const admittedOf = async (count: number) =>
      (await spend(count)).filter(({ allowed }) => allowed).length
    expect(await admittedOf(5)).toBe(5)
    await primary?.call('WAIT', 1, 0)
    // It follows a server that is not there, and so keeps what it has.
    await replica?.replicaof('127.0.0.1', '1')
    expect(await admittedOf(10)).toBe(10)
    await service.kill()
    // 20 less the 5 that it knows of: the 10 are lost, and come again.
    expect(await untilItAnswers(() => admittedOf(100))).toBe(15)
  })
})
