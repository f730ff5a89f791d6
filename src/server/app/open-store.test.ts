import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { ownService, sharedUrl } from '../../../test/support/services.ts'
import { openStore } from './open-store.ts'

const COMMIT = { writes: [{ key: 'k', value: 'v' }], appends: [], result: 1 }

test('memory: and sqlite: open a store', async () => {
  for (const url of ['memory:', `sqlite:${scratchFile()}`]) {
    const store = await openStore(url)
    expect(await store.transact(() => COMMIT)).toBe(1)
    await store.close()
  }
})

test('commits of a durable store are told', async () => {
  const groups: { calls: number }[] = []
  const onCommit = (group: { calls: number }) => groups.push(group)
  const store = await openStore(`sqlite:${scratchFile()}`, { onCommit })
  await store.transact(() => COMMIT)
  await store.close()
  expect(groups).toMatchObject([{ calls: 1 }])
})

test.each(['', 'sqlite:', 'memory', 'memory:x', './headgate.db', 'mysql://h', 'SQLITE:x'])(
  '%j names no store',
  async (url) => {
    const refused = { code: 'STORE_URL_INVALID', rule: expect.stringContaining('sqlite:PATH') }
    await expect(openStore(url)).rejects.toMatchObject(refused)
  },
)

test.each(['redis://127.0.0.1:1', 'postgres://127.0.0.1:1/nobody'])(
  'a server that is down is not refused: calls are told that it is, until it is there',
  async (url) => {
    const store = await openStore(url)
    await expect(store.transact(() => COMMIT)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  },
)

test('but money is not trusted to one that could not be asked', async () => {
  await expect(openStore('redis://127.0.0.1:1', { mustKeep: true })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
})

for (const kind of ['redis', 'postgres', 'cluster'] as const) {
  const place = await remotePlace(kind)
  test.skipIf(place === undefined)(`${kind} opens a store, and tells its commits`, async () => {
    if (place === undefined) return
    const groups: { calls: number }[] = []
    const store = await openStore(place.url, { onCommit: (group) => groups.push(group) })
    const commit = { ...COMMIT, writes: [{ key: `test/{${place.name}}/k`, value: 'v' }] }
    expect(await store.transact(() => commit)).toBe(1)
    await store.close()
    expect(groups).toMatchObject([{ calls: 1 }])
  })
}

const [redisUrl, clusterUrl] = [await sharedUrl('redis'), await sharedUrl('cluster')]

describe.skipIf(redisUrl === undefined || clusterUrl === undefined)('money on Redis', () => {
  const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
  const open = async (url: string) => (await openStore(url, { mustKeep: true })).close()
  const refusal = (finding: string) => ({
    code: 'STORE_MAY_LOSE',
    finding: expect.stringContaining(finding),
  })

  test('is refused unless every write is synced before its answer', async () => {
    await expect(open(redisUrl ?? '')).rejects.toMatchObject(refusal('appendonly is no, not yes'))
  })

  test('is taken by a server that syncs every write, evicts nothing and stands alone', async () => {
    const { url } = await ownService('redis', DURABLE)
    await open(url)
  })

  test('is refused where keys are evicted', async () => {
    const policy = ['--maxmemory-policy', 'allkeys-lru']
    const { url } = await ownService('redis', [...DURABLE, ...policy])
    await expect(open(url)).rejects.toMatchObject(refusal('maxmemory-policy is allkeys-lru'))
  })

  const KINDS = [
    ['sentinel', ['Sentinel', 'replicas']],
    ['replicated', ['a cluster', 'replicas']],
    ['cluster', ['a cluster']],
  ] as const

  test.each(KINDS.slice(0, times(1, 3)))(
    'is refused by a service of kind %s, whatever its settings',
    async (kind, losses) => {
      const { url } = await ownService(kind, DURABLE)
      const refused: unknown = await open(url).catch((error: unknown) => error)
      for (const loss of losses) expect(refused).toMatchObject(refusal(loss))
      expect(refused).not.toMatchObject(refusal('appendonly'))
    },
  )

  test('is refused by any cluster', async () => {
    await expect(open(clusterUrl ?? '')).rejects.toMatchObject(refusal('a cluster'))
  })

  test('is refused by a server with a replica, whatever its settings', async () => {
    const { url, ports } = await ownService('redis', DURABLE)
    const follow = ['--replicaof', `127.0.0.1 ${ports[0]}`]
    await ownService('redis', [...DURABLE, ...follow])
    const client = new Redis(url)
    while (!(await client.info('replication')).includes('connected_slaves:1')) {}
    client.disconnect()
    await expect(open(url)).rejects.toMatchObject(refusal('replicas'))
  })
})
