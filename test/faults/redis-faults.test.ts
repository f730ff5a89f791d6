/** What Redis itself may answer, or not: each is a store that is unwell, or nothing that anyone notices. */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { millis } from '../../src/core/time.ts'
import { MAX_COMMIT_WRITES } from '../../src/stores/bounds.ts'
import { addOne, counted, entriesOf, untilItAnswers } from '../support/hot-count.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const open = async (settings: readonly string[] = [], timeout = 60_000) => {
  const { url } = await ownService('redis', settings)
  const place = placeAt('redis', url)
  const store = place.open({ timeout: millis(timeout), patience: millis(60_000) })
  const client = new Redis(url)
  onTestFinished(async () => {
    client.disconnect()
    await store.close()
  })
  await addOne(store)
  return { store, client, place }
}

describe.skipIf((await sharedUrl('redis')) === undefined)('a Redis server', () => {
  test('that has forgotten its scripts is told them again', async () => {
    const { store, client } = await open()
    await client.script('FLUSH')
    expect(await addOne(store)).toBe(2)
  })

  test('whose clock stepped back keeps no key for a server that is gone', async () => {
    const { place, client } = await open()
    const store = place.open({ patience: millis(500) })
    await addOne(store)
    const claims = `${place.name}claims`
    const [key = ''] = await client.keys(`${place.name}k:*`)
    await client.hset(claims, key, `${(Date.now() + 3_600_000) * 1_000} gone`)
    expect(await addOne(store)).toBe(3)
    await store.close()
  })

  test('takes the largest commit that a store must', async () => {
    const { store } = await open()
    const keys = Array.from({ length: MAX_COMMIT_WRITES }, (_, i) => `large${i}`)
    for (const [value, was] of [
      ['1', 0],
      ['2', keys.length],
    ] as const) {
      const found = await store.transact((view) => {
        const there = keys.filter((key) => view.read(key)[0] !== undefined)
        return { writes: keys.map((key) => ({ key, value })), appends: [], result: there.length }
      }, keys)
      expect(found).toBe(was)
    }
  })

  test('that is full takes nothing, not a part of it, until there is room', async () => {
    const { store, client } = await open()
    await client.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 3; i++) await expect(addOne(store)).rejects.toThrow('OOM')
    await client.config('SET', 'maxmemory', '0')
    expect(await addOne(store)).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('that was made a replica takes nothing, and is used again once it is a master', async () => {
    const { store, client } = await open()
    await client.replicaof('127.0.0.1', '1')
    await expect(addOne(store)).rejects.toThrow('READONLY')
    await client.replicaof('NO', 'ONE')
    const count = await untilItAnswers(() => addOne(store))
    expect(await entriesOf(store)).toEqual(upTo(count))
  })

  test('that is loading its data is waited for no longer than any other', async () => {
    const slow = [
      '--enable-debug-command',
      'yes',
      '--loading-process-events-interval-bytes',
      '1024',
    ]
    const { store, client } = await open([...slow, '--key-load-delay', '2000'])
    await client.mset(Object.fromEntries(upTo(500).map((i) => [`k${i}`, 'x'.repeat(100)])))
    const reloaded = client.call('DEBUG', 'RELOAD')
    let refused: unknown
    while (refused === undefined) {
      await addOne(store).catch((error: unknown) => {
        refused = error
      })
    }
    expect(String(refused)).toContain('LOADING')
    await reloaded
    const count = await untilItAnswers(() => addOne(store))
    expect(await entriesOf(store)).toEqual(upTo(count))
  })

  test('that pauses for longer than a decision may wait does not apply it when it goes on', async () => {
    const { store, client } = await open([], 300)
    await client.client('PAUSE', 2_500, 'WRITE')
    await expect(addOne(store)).rejects.toThrow('no answer within 300 ms')
    const count = await untilItAnswers(() => addOne(store))
    // What was given up came to the server before this one, and was too old for it.
    expect(count).toBe(2)
    expect(await counted(store)).toBe(2)
  })
})
