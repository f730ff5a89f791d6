import { expect, test } from 'vitest'
import { scratchFile } from '../../test/support/scratch-file.ts'
import { openStore } from './open-store.ts'

test('memory: and sqlite: open a store', async () => {
  for (const url of ['memory:', `sqlite:${scratchFile()}`]) {
    const store = openStore(url)
    const plan = { writes: [{ key: 'k', value: 'v' }], appends: [], result: 1 }
    expect(await store.transact(() => plan)).toBe(1)
    await store.close()
  }
})

test('commits of a durable store are told', async () => {
  const groups: { calls: number }[] = []
  const store = openStore(`sqlite:${scratchFile()}`, { onCommit: (group) => groups.push(group) })
  await store.transact(() => ({ writes: [{ key: 'k', value: 'v' }], appends: [], result: 1 }))
  await store.close()
  expect(groups).toMatchObject([{ calls: 1 }])
})

test.each(['redis://h', 'rediss://h', 'redis+cluster://h', 'postgres://h', 'postgresql://h'])(
  '%s is known, and not built yet',
  (url) => {
    expect(() => openStore(url)).toThrow(expect.objectContaining({ code: 'STORE_UNSUPPORTED' }))
    expect(() => openStore(url)).toThrow('not built yet')
  },
)

test.each(['', 'sqlite:', 'memory', 'memory:x', './headgate.db', 'mysql://h', 'SQLITE:x'])(
  '%j names no store',
  (url) => {
    expect(() => openStore(url)).toThrow(expect.objectContaining({ code: 'STORE_URL_INVALID' }))
    expect(() => openStore(url)).toThrow('store: must be memory: or sqlite:PATH, found ')
  },
)
