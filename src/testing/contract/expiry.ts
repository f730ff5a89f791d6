/** Expiry: forgetting, never a rule. */
import assert from 'node:assert/strict'
import { after, days, hours, micros, seconds } from '../../core/time.ts'
import { type Bodies, look, scanKeys, upTo, write } from './case.ts'

export const expiry: Bodies = {
  'a key is absent from its expiry on, to steps, ranges and scans alike': async ({
    store,
    clock,
  }) => {
    const expiresAt = after(clock(), seconds(10))
    await write(store, { key: 'a', value: '1', expiresAt, index: 'list' })
    clock.advance(micros(9_999_999))
    assert.deepEqual(await look(store, 'a'), ['1'])
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'a', value: '1' }])
    assert.deepEqual(await store.scan('', 10), [{ key: 'a', value: '1' }])
    clock.advance(micros(1))
    assert.deepEqual(await look(store, 'a'), [undefined])
    assert.deepEqual(await store.range('list', '', 10), [])
    assert.deepEqual(await store.scan('', 10), [])
  },

  'what is written already expired reads as absent, also to calls of the same moment': async ({
    store,
    clock,
  }) => {
    const [, found] = await Promise.all([
      write(store, { key: 'a', value: '1', expiresAt: clock() }),
      look(store, 'a'),
    ])
    assert.deepEqual(found, [undefined])
    assert.deepEqual(await look(store, 'a'), [undefined])
  },

  'a key without an expiry stays for a hundred years of other writes': async ({ store, clock }) => {
    await write(store, { key: 'a', value: '1' })
    for (const year of upTo(100)) {
      clock.advance(days(365))
      await write(store, { key: 'b', value: `${year}`, expiresAt: after(clock(), hours(1)) })
    }
    assert.deepEqual(await look(store, 'a'), ['1'])
  },

  'a later write replaces the expiry of an earlier one, with another or with none': async ({
    store,
    clock,
  }) => {
    const soon = after(clock(), seconds(1))
    await write(
      store,
      { key: 'longer', value: '1', expiresAt: soon },
      { key: 'forever', value: '1', expiresAt: soon },
    )
    await write(
      store,
      { key: 'longer', value: '2', expiresAt: after(soon, seconds(1)) },
      { key: 'forever', value: '2' },
    )
    clock.set(soon)
    assert.deepEqual(await look(store, 'longer', 'forever'), ['2', '2'])
    clock.advance(seconds(1))
    assert.deepEqual(await look(store, 'longer', 'forever'), [undefined, '2'])
  },

  'a key comes back when it is written after its expiry': async ({ store, clock }) => {
    await write(store, { key: 'a', value: '1', expiresAt: after(clock(), seconds(1)) })
    clock.advance(seconds(2))
    await write(store, { key: 'a', value: '2', expiresAt: after(clock(), seconds(1)) })
    assert.deepEqual(await look(store, 'a'), ['2'])
    assert.deepEqual(await scanKeys(store, 10), ['a'])
  },

  'forgetting takes the expired and nothing live, however much is written': async ({
    store,
    clock,
  }) => {
    const live = upTo(100).map((i) => `live:${String(i).padStart(3, '0')}`)
    const soon = after(clock(), seconds(1))
    await write(store, ...live.map((key) => ({ key, value: 'x', expiresAt: after(soon, days(1)) })))
    await write(store, ...live.map((key) => ({ key: `dead:${key}`, value: 'x', expiresAt: soon })))
    clock.advance(seconds(1))
    for (const i of upTo(60)) {
      clock.advance(seconds(2))
      await write(
        store,
        ...upTo(10).map((j) => ({ key: `x:${j}`, value: `${i}`, expiresAt: soon })),
      )
    }
    assert.deepEqual(await scanKeys(store, 30), live)
  },
}
