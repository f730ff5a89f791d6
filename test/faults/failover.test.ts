/** A Redis whose place another takes: all goes on without a restart, and what that may cost is known. */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { millis } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { SILENT } from '../../src/server/app/log.ts'
import { readSignerSettings } from '../../src/server/secrets/config.ts'
import { openSigner } from '../../src/server/secrets/open.ts'
import { serveHere } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { untilItAnswers } from '../support/hot-count.ts'
import { keyOptions, provideKey } from '../support/odis-process.ts'
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

describe.skipIf(!has)('money and attempts at PINs under Sentinel, whatever its settings', () => {
  const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
  const MONEY = `
limits: { Orders: { id: opaque, burst: 20, count: 1, period: 24h } }
spending: { payer: 0.0.2, total: 1000, tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 } }
`

  test('are kept only where the flag accepts the risk by its name', async () => {
    const { url } = await ownService('sentinel', DURABLE)
    const cwd = configFolder({ 'headgate.yml': MONEY }).path
    const words = ['--store', url, '--log-level', 'silent']
    await expect(serveHere(words, { cwd })).rejects.toThrow('STORE_MAY_LOSE')
    const server = await serveHere([...words, '--accept-redis-losses'], { cwd })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)

    const folder = temporaryFolder()
    await provideKey(folder)
    const flags = { store: url, ...keyOptions(folder), workers: '1' }
    const signer = (more: Readonly<Record<string, string>>) =>
      openSigner(readSignerSettings({ flags: { ...flags, ...more } }), SILENT)
    await expect(signer({})).rejects.toMatchObject({ code: 'STORE_MAY_LOSE' })
    await (await signer({ 'accept-redis-losses': 'true' })).close()
  })
})
