import { Cluster } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { nameOf } from '../../core/names.ts'
import type { Store } from '../../core/store.ts'
import { unfenceStore } from '../moving/index.ts'

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
