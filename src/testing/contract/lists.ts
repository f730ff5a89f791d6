/** Indexes, which list keys in their order, and the scan, which shows all of them in none. */
import assert from 'node:assert/strict'
import type { Key, Store, Write } from '../../core/store.ts'
import { type CaseBodies, scanItems, scanKeys, upTo, write } from './case.ts'

/** In byte order. UTF-16 would put the last two the other way round, a dictionary 'B' after 'a'. */
const IN_ORDER = ['A', 'B', 'a', 'aa', 'ab', 'a\u0308', 'z', '~', 'é', '水', '\uffee', '🚰']

/** Lists for people, in byte order of keys. */
export const indexCases: CaseBodies = {
  'an index lists the keys that were written under it, with their values': async ({ store }) => {
    assert.deepEqual(await store.range('list', '', 10), [])
    await write(store, { key: 'list#a', value: '1' }, { key: 'a', value: '2' })
    await write(store, { key: 'other#a', value: '3' }, { key: 'list', value: '4' })
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'list#a', value: '1' }])
    await write(store, { key: 'list#a', value: '5' })
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'list#a', value: '5' }])
  },

  'a key leaves its index when it is deleted, and comes back when it is written again': async ({
    store,
  }) => {
    await write(store, ...['list#a', 'list#b', 'list#c'].map((key) => ({ key, value: '1' })))
    await write(store, { key: 'list#b' })
    assert.deepEqual(await keysOf(store, 'list'), ['list#a', 'list#c'])
    assert.deepEqual(await scanKeys(store, 10), ['list#a', 'list#c'])
    await write(store, { key: 'list#b', value: '2' })
    assert.deepEqual(await keysOf(store, 'list'), ['list#a', 'list#b', 'list#c'])
  },

  'a range is in byte order of keys, not in that of UTF-16 or of a language': async ({ store }) => {
    const shuffled = IN_ORDER.toReversed()
    await write(store, ...shuffled.map((item) => ({ key: `list#${item}`, value: item })))
    assert.deepEqual(
      await keysOf(store, 'list'),
      IN_ORDER.map((item) => `list#${item}`),
    )
  },

  'pages of a range join without gap or overlap, and those of a scan leave nothing out': async ({
    store,
  }) => {
    const keys = upTo(25).map((i) => `list#${String(i).padStart(2, '0')}`)
    await write(store, ...keys.map((key) => ({ key, value: key })))
    await write(store, { key: 'list10x', value: 'unlisted' }, { key: 'z#z', value: '' })
    const pages: Key[] = []
    for (;;) {
      const page = await store.range('list', pages.at(-1) ?? '', 10)
      pages.push(...page.map(({ key }) => key))
      if (page.length < 10) break
    }
    assert.deepEqual(pages, keys)
    assert.deepEqual(await scanKeys(store, 10), [...keys, 'list10x', 'z#z'].toSorted())
    assert.deepEqual(await store.range('list', 'list#24', 10), [])
  },

  'a page begins beyond a key that need not exist': async ({ store }) => {
    await write(store, { key: 'l#a', value: '1' }, { key: 'l#c', value: '2' })
    assert.deepEqual(await store.range('l', 'l#b', 10), [{ key: 'l#c', value: '2' }])
  },

  'a scan shows what is there throughout, though other keys come, go and change with every page':
    async ({ store }) => {
      const keys = upTo(40).map((i) => `k${i}`)
      await write(store, ...keys.map((key) => ({ key, value: 'old' })))
      const stays = (i: number): boolean => i % 4 === 0
      let page = 0
      const shown = await scanItems(store, 3, async () => {
        await write(store, ...changes(keys, page, stays))
        page += 1
      })
      for (const key of keys.filter((_, i) => stays(i))) assert.equal(shown.get(key), 'old')
      for (const value of shown.values()) assert.ok(value === 'old' || value === 'new')
    },

  'several scans at once do not disturb each other': async ({ store }) => {
    const keys = upTo(30).map((i) => `k${i}`)
    await write(store, ...keys.map((key) => ({ key, value: key })))
    const scans = await Promise.all(upTo(8).map((i) => scanKeys(store, i + 1)))
    for (const shown of scans) assert.deepEqual(shown, keys.toSorted())
  },

  'an item of an index may have any name, the marks of names among them': async ({ store }) => {
    const keys = ['list##', 'list#a#b', 'list#a/b', 'list#{a}', 'list#}']
    await write(store, ...keys.map((key) => ({ key, value: key })))
    assert.deepEqual(await keysOf(store, 'list'), keys)
    assert.deepEqual(await keysOf(store, 'list#a'), [])
  },

  'indexes do not see each other, whatever their names share': async ({ store }) => {
    await write(
      store,
      { key: 'a#1', value: '' },
      { key: 'a:b#2', value: '' },
      { key: 'A#3', value: '' },
    )
    assert.deepEqual(await keysOf(store, 'a'), ['a#1'])
    assert.deepEqual(await keysOf(store, 'a:b'), ['a:b#2'])
    assert.deepEqual(await keysOf(store, 'A'), ['A#3'])
  },
}

/** Deletes, rewrites and adds, among the keys that need not stay. */
const changes = (
  keys: readonly Key[],
  page: number,
  stays: (i: number) => boolean,
): readonly Write[] => [
  ...keys.flatMap((key, i) =>
    stays(i) || (i + page) % 3 !== 0 ? [] : [page % 2 === 0 ? { key } : { key, value: 'new' }],
  ),
  // Always: a scan must end, though keys come faster than it goes.
  ...upTo(5).map((i) => ({ key: `${page}:${i}`, value: 'new' })),
]

const keysOf = async (store: Store, index: string): Promise<Key[]> =>
  (await store.range(index, '', 100)).map(({ key }) => key)
