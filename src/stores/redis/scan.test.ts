import { Cluster, Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { untilItAnswers } from '../../../test/support/hot-count.ts'
import { placeAt, remotePlace } from '../../../test/support/remote-stores.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { ownService } from '../../../test/support/services.ts'
import { nameOf } from '../../core/names.ts'
import type { Store } from '../../core/store.ts'
import { exportStore, unfenceStore } from '../moving/index.ts'

const [redis, cluster] = [await remotePlace('redis'), await remotePlace('cluster')]

const KEYS = 1_500

const fill = (store: Store) =>
  store.moving?.restore(
    Array.from({ length: KEYS }, (_, i) => ({ key: nameOf('test', `t${i}`), value: String(i) })),
    [],
  )

/** The keys that a scan shows from a cursor on. */
const keysFrom = async (store: Store, from: string): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  for (let cursor: string | undefined = from; cursor !== undefined; ) {
    const page = await store.scan(cursor, 100)
    for (const { key } of page.items) found.add(key)
    cursor = page.next
  }
  return found
}

describe.skipIf(redis === undefined)('a scan', () => {
  if (redis === undefined) return

  test('begins anew with a cursor of before a restart, which means another place by now', async () => {
    const store = redis.open()
    onTestFinished(async () => {
      await redis.clear()
      await store.close()
    })
    await fill(store)
    const { next = '' } = await store.scan('', 1_000)
    expect((await keysFrom(store, next)).size).toBeLessThan(KEYS)
    const [node, , ...place] = JSON.parse(next)
    const ofAnotherRun = JSON.stringify([node, 'another', ...place])
    expect((await keysFrom(store, ofAnotherRun)).size).toBe(KEYS)
  })
})

describe.skipIf(cluster === undefined)('a fence', () => {
  if (cluster === undefined) return

  test('that stands around some partitions only is told apart, and can be put up or taken away', async () => {
    const store = cluster.open()
    const [, host = '', port] = /\/\/([^:,]+):(\d+)/.exec(cluster.url) ?? []
    const client = new Cluster([{ host, port: Number(port) }])
    onTestFinished(async () => {
      client.disconnect()
      await cluster.clear()
      await store.close()
    })
    await store.moving?.fence('export-1, of a test')
    await client.del(`${cluster.name}claims:{0}`)
    expect(await store.moving?.status()).toMatchObject({
      fence: 'export-1, of a test',
      partly: true,
    })
    await store.moving?.fence('export-1, of a test')
    const whole = await store.moving?.status()
    expect([whole?.fence, whole?.partly]).toEqual(['export-1, of a test', undefined])
    await client.del(`${cluster.name}claims:{0}`)
    await unfenceStore(store, 'export-1')
    expect((await store.moving?.status())?.fence).toBeUndefined()
  })
})

describe.skipIf(cluster === undefined)('a cluster of its own', () => {
  const open = async (kind: 'cluster' | 'replicated', settings: readonly string[] = []) => {
    const service = await ownService(kind, settings)
    const clients = service.ports.map((port) => new Redis(port))
    const store = placeAt(kind, service.url).open()
    onTestFinished(async () => {
      for (const client of clients) client.disconnect()
      await store.close()
    })
    await fill(store)
    return { clients, store }
  }

  test('is exported whole, though connections to its servers were cut between pages', async () => {
    const { clients, store } = await open('cluster')
    let cuts = 0
    const cutBetween = {
      ...store,
      scan: async (...page: Parameters<Store['scan']>) => {
        const found = await store.scan(...page)
        const client = clients[cuts++]
        if (client === undefined) return found
        await client.call('CLIENT', 'KILL', 'TYPE', 'normal')
        // Until it was heard of here.
        for (let turns = 0; turns < 200; turns++) await client.ping()
        return found
      },
    }
    const path = scratchFile('a.export')
    // A page that met the cut fails: then the same command goes on.
    const { keys } = await untilItAnswers(() => exportStore(cutBetween, path))
    expect(cuts).toBeGreaterThan(1)
    expect(keys).toBe(KEYS)
  })

  test('is shown whole, though a replica takes the place of a server that was not shown yet', async () => {
    const { clients, store } = await open('replicated')
    const [first, , , replica] = clients
    if (first === undefined || replica === undefined) throw new Error('three masters and replicas')
    const promote = async (client: Redis) => {
      const isMaster = async () => String(await client.call('ROLE')).startsWith('master')
      await untilItAnswers(async () => {
        if (await isMaster()) return
        await client.call('CLUSTER', 'FAILOVER').catch(() => {})
        throw new Error('not yet')
      })
      await untilItAnswers(async () => {
        for (const other of clients) {
          const slots = JSON.stringify(await other.call('CLUSTER', 'SLOTS'))
          expect(slots).toMatch(new RegExp(`\\[0,5460,\\["127.0.0.1",${client.options.port},`))
        }
      })
    }
    await promote(replica)
    const page = await untilItAnswers(() => store.scan('', 10))
    await promote(first)
    const rest = await untilItAnswers(() => keysFrom(store, page.next ?? ''))
    expect(new Set([...page.items.map(({ key }) => key), ...rest]).size).toBe(KEYS)
  })

  test('of which slots are nowhere is not shown in part', async () => {
    const { clients, store } = await open('cluster', ['--cluster-require-full-coverage', 'no'])
    // A server may not have heard of the others yet.
    expect((await untilItAnswers(() => keysFrom(store, ''))).size).toBe(KEYS)
    for (const client of clients) await client.call('CLUSTER', 'DELSLOTSRANGE', 0, 99)
    await expect(keysFrom(store, '')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      finding: 'none for 0-99',
    })
  })
})
