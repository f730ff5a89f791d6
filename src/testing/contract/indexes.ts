/** Small indexes and the scan: lists for people, in byte order, page by page. */
import assert from 'node:assert/strict'
import type { Key, Store } from '../../core/store.ts'
import { type Bodies, scanKeys, upTo, write } from './case.ts'

/** In byte order. UTF-16 would put the last two the other way round, a dictionary 'B' after 'a'. */
const IN_ORDER = ['A', 'B', 'a', 'aa', 'ab', 'a\u0308', 'z', '~', 'é', '水', '\uffee', '🚰']

export const indexes: Bodies = {
  'an index lists the keys that were written under it, with their values': async ({ store }) => {
    assert.deepEqual(await store.range('list', '', 10), [])
    await write(store, { key: 'a', value: '1', index: 'list' }, { key: 'b', value: '2' })
    await write(store, { key: 'c', value: '3', index: 'other' })
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'a', value: '1' }])
    await write(store, { key: 'a', value: '4', index: 'list' })
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'a', value: '4' }])
  },

  'a key leaves its index when it is deleted, listed elsewhere, or written without one': async ({
    store,
  }) => {
    const keys = ['deleted', 'moved', 'unlisted', 'stays']
    await write(store, ...keys.map((key) => ({ key, value: '1', index: 'list' })))
    assert.deepEqual(await keysOf(store, 'list'), keys.toSorted())
    await write(
      store,
      { key: 'deleted' },
      { key: 'moved', value: '2', index: 'elsewhere' },
      { key: 'unlisted', value: '2' },
    )
    assert.deepEqual(await keysOf(store, 'list'), ['stays'])
    assert.deepEqual(await keysOf(store, 'elsewhere'), ['moved'])
    assert.deepEqual(await scanKeys(store, 10), ['moved', 'stays', 'unlisted'])
  },

  'a deleted key that is written again is listed only where it now belongs': async ({ store }) => {
    await write(store, { key: 'a', value: '1', index: 'list' })
    await write(store, { key: 'a' })
    await write(store, { key: 'a', value: '2' })
    assert.deepEqual(await keysOf(store, 'list'), [])
  },

  'ranges and scans are in byte order of keys, not in that of UTF-16 or of a language': async ({
    store,
  }) => {
    const shuffled = IN_ORDER.toReversed()
    await write(store, ...shuffled.map((key) => ({ key, value: key, index: 'list' })))
    assert.deepEqual(await keysOf(store, 'list'), IN_ORDER)
    assert.deepEqual(await scanKeys(store, 100), IN_ORDER)
  },

  'pages of a range and of a scan join without gap or overlap': async ({ store }) => {
    const keys = upTo(25).map((i) => `k${String(i).padStart(2, '0')}`)
    await write(store, ...keys.map((key) => ({ key, value: key, index: 'list' })))
    await write(store, { key: 'k10x', value: 'unlisted' }, { key: 'zz', value: '', index: 'z' })
    const pages: Key[] = []
    for (;;) {
      const page = await store.range('list', pages.at(-1) ?? '', 10)
      pages.push(...page.map(({ key }) => key))
      if (page.length < 10) break
    }
    assert.deepEqual(pages, keys)
    assert.deepEqual(await scanKeys(store, 10), [...keys, 'k10x', 'zz'].toSorted())
    assert.deepEqual(await store.range('list', 'k24', 10), [])
    assert.deepEqual(await store.scan('zz', 10), [])
  },

  'a page begins beyond a key that need not exist': async ({ store }) => {
    await write(store, { key: 'a', value: '1', index: 'l' }, { key: 'c', value: '2', index: 'l' })
    assert.deepEqual(await store.range('l', 'b', 10), [{ key: 'c', value: '2' }])
    assert.deepEqual(await store.scan('b', 10), [{ key: 'c', value: '2' }])
  },

  'indexes do not see each other, whatever their names share': async ({ store }) => {
    await write(
      store,
      { key: '1', value: '', index: 'a' },
      { key: '2', value: '', index: 'a:b' },
      { key: '3', value: '', index: 'A' },
    )
    assert.deepEqual(await keysOf(store, 'a'), ['1'])
    assert.deepEqual(await keysOf(store, 'a:b'), ['2'])
    assert.deepEqual(await keysOf(store, 'A'), ['3'])
  },
}

const keysOf = async (store: Store, index: string): Promise<Key[]> =>
  (await store.range(index, '', 100)).map(({ key }) => key)
