import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveHeadgate } from '../../../test/support/cli.ts'
import { configFolder } from '../../../test/support/config-folder.ts'
import { addOne, untilItAnswers } from '../../../test/support/hot-count.ts'
import { placeAt } from '../../../test/support/remote-stores.ts'
import { ownService, sharedUrl } from '../../../test/support/services.ts'
import { millis, seconds } from '../../core/time.ts'
import { redis } from './store.ts'

describe.skipIf((await sharedUrl('tls')) === undefined)('with TLS', () => {
  test('a server whose authority is trusted is used', async () => {
    const { url, ca = '' } = await ownService('tls')
    const store = placeAt('tls', url).open({ ca })
    expect(await addOne(store)).toBe(1)
    expect(await addOne(store)).toBe(2)
    await store.close()
  })

  test('the service trusts an authority that Node.js is told of', async () => {
    const { url, ca = '' } = await ownService('tls')
    const config = `store: ${url}\nlimits: { Orders: { id: opaque, burst: 20, period: 24h } }`
    const folder = configFolder({ 'headgate.yml': config, 'ca.pem': ca })
    const env = { NODE_EXTRA_CA_CERTS: `${folder.path}/ca.pem` }
    const server = await serveHeadgate(['--log-level', 'warn'], { cwd: folder.path, env })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  test('a server whose authority is not trusted is told nothing, as if it were down', async () => {
    const { url } = await ownService('tls')
    const store = placeAt('tls', url).open({ timeout: seconds(60) })
    await expect(addOne(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  })

  test('a server that does not speak it is told nothing, as if it were down', async () => {
    const { url } = await ownService('redis')
    const store = redis({ url: url.replace('redis:', 'rediss:'), timeout: millis(500) })
    await expect(addOne(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  })
})

describe.skipIf((await sharedUrl('redis')) === undefined)('under Sentinel', () => {
  const open = async () => {
    const service = await ownService('sentinel')
    const [primary, replica, sentinel] = service.ports.map((port) => new Redis(port))
    if (primary === undefined || replica === undefined || sentinel === undefined) {
      throw new Error('three servers')
    }
    const store = placeAt('sentinel', service.url).open()
    onTestFinished(async () => {
      for (const client of [primary, replica, sentinel]) client.disconnect()
      await store.close()
    })
    return { store, primary, replica, sentinel }
  }

  test('the primary is found and used, not its replica', async () => {
    const { store, primary } = await open()
    expect(await addOne(store)).toBe(1)
    const keys = await primary.keys('*count*')
    expect(keys).toHaveLength(1)
  })

  test('that changes places on request, the new primary is used, without a restart', async () => {
    const { store, replica, sentinel } = await open()
    expect(await addOne(store)).toBe(1)
    await sentinel.call('SENTINEL', 'FAILOVER', 'headgate')
    // What the old one takes until it is told is lost with it.
    await untilItAnswers(async () => {
      const count = await addOne(store)
      expect(await replica.info('replication')).toContain('role:master')
      expect(await countOn(replica)).toBe(String(count))
    })
  })

  test('with a name that no Sentinel knows, calls fail instead of waiting', async () => {
    const { url } = await ownService('sentinel')
    const store = redis({ url: url.replace('/headgate', '/other'), timeout: millis(500) })
    await expect(addOne(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  })
})

async function countOn(client: Redis): Promise<string | null> {
  const [key = ''] = await client.keys('*count*')
  return client.get(key)
}
