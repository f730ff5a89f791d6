import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { listedName, nameOf } from '../../core/names.ts'
import { after } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'

const place = await remotePlace('redis')

describe.skipIf(place === undefined)('on a real server', () => {
  if (place === undefined) return
  const client = new Redis(place.url)
  const clock = fakeClock()
  const store = place.open({ clock })
  const index = nameOf('test', 'a', 'list')
  const [list, keyOf] = [
    `${place.name}i:${index}`,
    (item: number) => `${place.name}k:${listedName(index, String(item))}`,
  ]
  const put = (item: number) =>
    store.transact((view) => ({
      writes: [
        {
          key: listedName(index, String(item)),
          value: 'x',
          expiresAt: after(view.now, clock.uptime()),
        },
      ],
      appends: [],
      result: undefined,
    }))
  afterAll(async () => {
    await store.close()
    client.disconnect()
  })

  test('what Redis forgot is not listed, and is taken off the list when it is read', async () => {
    await place.clear()
    for (const item of [1, 2, 3]) await put(item)
    await client.del(keyOf(1), keyOf(3))
    const found = await store.range(index, '', 1)
    expect(found.map(({ key }) => key)).toEqual([listedName(index, '2')])
    expect(await client.zcard(list)).toBeLessThan(3)
    await store.range(index, '', 10)
    expect(await client.zcard(list)).toBe(1)
  })

  test('a list that nobody reads does not outgrow what is there: writes take off what is gone', async () => {
    await place.clear()
    for (let item = 0; item < 200; item++) {
      await put(item)
      await client.del(keyOf(item))
    }
    expect(await client.zcard(list)).toBeLessThan(50)
  })

  test('a cursor that is none of ours begins anew', async () => {
    await place.clear()
    await put(1)
    for (const cursor of ['nonsense', '["gone:1","0"]', '7', '[]']) {
      const { items } = await store.scan(cursor, 10)
      expect(items.map(({ key }) => key)).toEqual([listedName(index, '1')])
    }
  })
})
