/** What one plan does. */
import assert from 'node:assert/strict'
import type { Plan } from '../../core/store.ts'
import { type Bodies, look, scanKeys, upTo, write } from './case.ts'

export const plans: Bodies = {
  'what was written is read': async ({ store }) => {
    assert.deepEqual(await look(store, 'a', 'b'), [undefined, undefined])
    await write(store, { key: 'a', value: '1' }, { key: 'b', value: '2' })
    assert.deepEqual(await look(store, 'b', 'a'), ['2', '1'])
    await write(store, { key: 'a', value: '3' })
    assert.deepEqual(await look(store, 'a', 'b'), ['3', '2'])
  },

  'reading no key, or one key twice, answers as asked': async ({ store }) => {
    await write(store, { key: 'a', value: '1' })
    assert.deepEqual(await look(store), [])
    assert.deepEqual(await look(store, 'a', 'x', 'a'), ['1', undefined, '1'])
  },

  'a delete makes a key absent, and deleting what is absent is no mistake': async ({ store }) => {
    await write(store, { key: 'a', value: '1' }, { key: 'b', value: '2' })
    await write(store, { key: 'a' }, { key: 'never written' })
    assert.deepEqual(await look(store, 'a', 'b', 'never written'), [undefined, '2', undefined])
    await write(store, { key: 'a', value: 'again' })
    assert.deepEqual(await look(store, 'a'), ['again'])
  },

  'a plan that changes nothing changes nothing': async ({ store }) => {
    await write(store, { key: 'a', value: '1' })
    assert.deepEqual(await look(store, 'a', 'b'), ['1', undefined])
    assert.deepEqual(await scanKeys(store, 10), ['a'])
  },

  'the answer is the very result that the step planned': async ({ store }) => {
    const result = { amount: 10n, list: [undefined, 'x'] }
    assert.equal(await store.transact(() => ({ writes: [], appends: [], result })), result)
  },

  'a step follows links to keys that nobody named beforehand': async ({ store }) => {
    const links = upTo(10).map((i) => ({ key: `link:${i}`, value: `link:${i + 1}` }))
    await write(store, ...links, { key: 'link:10', value: 'the end' })
    const end = await store.transact((view) => {
      let [found] = view.read('link:0')
      while (found?.startsWith('link:') === true) [found] = view.read(found)
      return { writes: [{ key: 'found', value: String(found) }], appends: [], result: found }
    })
    assert.equal(end, 'the end')
    assert.deepEqual(await look(store, 'found'), ['the end'])
  },

  'a guess changes no answer: right, wrong, doubled or empty': async ({ store }) => {
    await write(store, { key: 'a', value: '0' }, { key: 'b', value: 'untouched' })
    for (const guess of [['a'], ['b', 'nowhere'], ['a', 'a'], []]) {
      await store.transact((view) => {
        const [value] = view.read('a')
        const next = { key: 'a', value: `${Number(value) + 1}` }
        return { writes: [next], appends: [], result: undefined }
      }, guess)
    }
    assert.deepEqual(await look(store, 'a', 'b', 'nowhere'), ['4', 'untouched', undefined])
  },

  'a plan of 256 writes lands whole': async ({ store }) => {
    await write(store, ...upTo(256).map((i) => ({ key: `k${i}`, value: `${i}` })))
    assert.deepEqual(
      await look(store, ...upTo(256).map((i) => `k${i}`)),
      upTo(256).map((i) => `${i}`),
    )
  },

  'a plan that writes one key twice is refused as a bug, and writes nothing': async ({ store }) => {
    const twice: Plan<void> = {
      writes: [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
        { key: 'a', value: '3' },
      ],
      appends: [{ stream: 's', entry: 'e' }],
      result: undefined,
    }
    await assert.rejects(store.transact(() => twice))
    assert.deepEqual(await look(store, 'a', 'b'), [undefined, undefined])
    assert.deepEqual(await store.read('s', 0, 10), [])
  },

  'keys of one partition share a transact, and a key has always the same one': async ({
    store,
  }) => {
    const [a, b] = ['a', 'b']
    assert.equal(store.partition(a), store.partition(a))
    if (store.partition(a) !== store.partition(b)) return
    await write(store, { key: a, value: '1' }, { key: b, value: '2' })
    assert.deepEqual(await look(store, a, b), ['1', '2'])
  },
}
