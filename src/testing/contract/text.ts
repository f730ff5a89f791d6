/** Keys and values are text, kept to the letter or refused. */
import assert from 'node:assert/strict'
import { append, type Bodies, look, scanKeys, upTo, write } from './case.ts'

const ODD_TEXTS = [
  ' ',
  'two  spaces ',
  'quotes \' and " and `',
  '; DROP TABLE items; --',
  'percent % underscore _ star * question ? bracket [a-z]',
  'back\\slash',
  'line\nfeed\r\nand\ttab',
  '{tag}:rest',
  '}{',
  '{}',
  '__proto__',
  'constructor',
  '1e3',
  '007',
  'é',
  'e\u0301',
  '\u200b\ufeff',
  '\u{10ffff}',
  '🚰 headgate 水門',
  'مرحبا',
]

export const text: Bodies = {
  'the empty value is a value, not absence': async ({ store }) => {
    await write(store, { key: 'a', value: '' })
    assert.deepEqual(await look(store, 'a', 'b'), ['', undefined])
    assert.deepEqual(await store.scan('', 10), [{ key: 'a', value: '' }])
    await append(store, 's', '')
    assert.deepEqual(
      (await store.read('s', 0, 10)).map(({ entry }) => entry),
      [''],
    )
  },

  'odd texts come back to the letter, as keys, values, entries and names': async ({ store }) => {
    for (const odd of ODD_TEXTS) {
      await write(store, { key: odd, value: odd, index: odd })
      await append(store, odd, odd)
    }
    assert.deepEqual(await look(store, ...ODD_TEXTS), ODD_TEXTS)
    for (const odd of ODD_TEXTS) {
      assert.deepEqual(await store.range(odd, '', 10), [{ key: odd, value: odd }])
      assert.deepEqual(
        (await store.read(odd, 0, 10)).map(({ entry }) => entry),
        [odd],
      )
    }
    assert.deepEqual(new Set(await scanKeys(store, 7)), new Set(ODD_TEXTS))
  },

  'keys that nearly agree are different keys': async ({ store }) => {
    const keys = ['a', 'A', 'a ', ' a', 'ä', 'a\u0308', 'a:', 'aa', '\uff41', '0', '00', '0.0']
    await write(store, ...keys.map((key) => ({ key, value: `the value of <${key}>` })))
    assert.deepEqual(
      await look(store, ...keys),
      keys.map((key) => `the value of <${key}>`),
    )
  },

  'keys of 1 KiB and values of 256 KiB are kept whole': async ({ store }) => {
    const long = 'k'.repeat(1_023)
    const wide = '水'.repeat(341)
    const large = '水🚰x'.repeat(32_768)
    await write(store, { key: `${long}1`, value: large }, { key: `${long}2`, value: '2' })
    await write(store, { key: wide, value: '3' })
    assert.deepEqual(await look(store, `${long}1`, `${long}2`, wide), [large, '2', '3'])
    await append(store, 's', large)
    assert.deepEqual(
      (await store.read('s', 0, 1)).map(({ entry }) => entry),
      [large],
    )
  },

  'text that UTF-8 without NUL cannot hold is refused as a bug, and nothing is written': async ({
    store,
  }) => {
    for (const bad of ['a\0b', '\ud800', 'x\udfffx']) {
      await assert.rejects(look(store, bad))
      await assert.rejects(write(store, { key: 'good', value: '1' }, { key: bad, value: '1' }))
      await assert.rejects(write(store, { key: 'good', value: bad }))
      await assert.rejects(write(store, { key: 'good', value: '1', index: bad }))
      await assert.rejects(append(store, bad, 'entry'))
      await assert.rejects(append(store, 's', 'entry', bad))
    }
    assert.deepEqual(await store.scan('', 10), [])
    assert.deepEqual(await store.read('s', 0, 10), [])
  },

  'the empty key is refused as a bug: no page could ever list it': async ({ store }) => {
    await assert.rejects(write(store, { key: '', value: '1' }))
    await assert.rejects(look(store, ''))
    assert.deepEqual(await store.scan('', 10), [])
  },

  'a thousand keys stay apart': async ({ store }) => {
    const keys = upTo(1_000).map((i) => `key:${i}`)
    await write(store, ...keys.map((key) => ({ key, value: key })))
    assert.deepEqual(await look(store, ...keys), keys)
  },
}
