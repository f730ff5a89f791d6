/** What one commit does, what is left of it after the store was closed, and that text is kept to the letter. */
import assert from 'node:assert/strict'
import type { Commit } from '../../core/store.ts'
import { after, seconds, span } from '../../core/time.ts'
import {
  append,
  type CaseBodies,
  increment,
  look,
  scanItems,
  scanKeys,
  upTo,
  write,
} from './case.ts'

export const commitCases: CaseBodies = {
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

  'a commit that changes nothing changes nothing': async ({ store }) => {
    await write(store, { key: 'a', value: '1' })
    assert.deepEqual(await look(store, 'a', 'b'), ['1', undefined])
    assert.deepEqual(await scanKeys(store, 10), ['a'])
  },

  'the answer is the very result that the step committed': async ({ store }) => {
    const result = { amount: 10n, list: [undefined, 'x'] }
    assert.equal(await store.transact(() => ({ writes: [], appends: [], result })), result)
  },

  'a step follows links to keys that no guess named': async ({ store }) => {
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

  'a step that only looks sees what was written; one that writes all the same is a bug, and writes nothing':
    async ({ store, clock }) => {
      await write(store, { key: 'a', value: '1' })
      const seen = await store.transact(
        (view) => ({ writes: [], appends: [], result: [view.now, ...view.read('a', 'b')] }),
        ['a'],
        'look',
      )
      assert.deepEqual(seen, [clock(), '1', undefined])
      for (const commit of [
        { writes: [{ key: 'b', value: '2' }], appends: [] },
        { writes: [], appends: [{ stream: 's', entry: '2' }] },
      ]) {
        await assert.rejects(store.transact(() => ({ ...commit, result: undefined }), [], 'look'))
      }
      assert.deepEqual(await scanKeys(store, 10), ['a'])
      assert.deepEqual(await store.read('s', 0, 10), [])
    },

  'a commit of 256 writes lands whole': async ({ store }) => {
    await write(store, ...upTo(256).map((i) => ({ key: `k${i}`, value: `${i}` })))
    assert.deepEqual(
      await look(store, ...upTo(256).map((i) => `k${i}`)),
      upTo(256).map((i) => `${i}`),
    )
  },

  'a commit that writes one key twice is refused as a bug, and writes nothing': async ({
    store,
  }) => {
    const twice: Commit<void> = {
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

  'names of one tag have one partition: keys, streams, indexes and what they list': async ({
    store,
  }) => {
    const names = ['a', 'b', '{c}', 'list', 'list#a', 'list#{b}', 'a', '🚰']
    assert.equal(new Set(names.map(store.partition)).size, 1)
    await store.transact(
      (view) => {
        view.read('a', 'b')
        const writes = [
          { key: 'a', value: '1' },
          { key: 'list#a', value: '2' },
        ]
        return { writes, appends: [{ stream: '{c}', entry: '3' }], result: undefined }
      },
      ['🚰'],
    )
    assert.deepEqual(await look(store, 'a', 'list#a'), ['1', '2'])
  },

  'partitions do not see each other, and a scan shows them all': async ({ store, elsewhere }) => {
    if (store.partition('a') === elsewhere.partition('a')) return
    await write(store, { key: 'a', value: 'here' }, { key: 'list#a', value: 'here' })
    await write(elsewhere, { key: 'a', value: 'there' }, { key: 'c', value: 'there' })
    await append(elsewhere, 's', 'there')
    assert.deepEqual(await look(store, 'a'), ['here'])
    assert.deepEqual(await look(elsewhere, 'a', 'list#a'), ['there', undefined])
    assert.deepEqual(await store.read('s', 0, 10), [])
    assert.deepEqual(await elsewhere.range('list', '', 10), [])
    assert.deepEqual(await scanKeys(store, 1), ['a', 'c', 'list#a'])
  },

  'close finishes what was accepted': async ({ store }) => {
    const accepted = upTo(50).map(() => increment(store, 'count'))
    const closing = store.close()
    const answers = await Promise.all(accepted)
    await closing
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      upTo(50).map((i) => i + 1),
    )
  },

  'a closed store refuses every call, and may be closed again': async ({ store }) => {
    await write(store, { key: 'a', value: '1' })
    await store.close()
    const closed = { code: 'STORE_CLOSED' }
    await assert.rejects(look(store, 'a'), closed)
    await assert.rejects(write(store, { key: 'a', value: '2' }), closed)
    await assert.rejects(store.read('s', 0, 1), closed)
    await assert.rejects(store.range('i', '', 1), closed)
    await assert.rejects(store.trim('s', 1), closed)
    await assert.rejects(store.scan('', 1), closed)
    await store.close()
  },

  'what was answered is there after a reopen: values, expiries, lists and streams': async ({
    store,
    clock,
    reopen,
  }) => {
    const expiresAt = after(clock(), seconds(10))
    await write(store, { key: 'list#a', value: '1' }, { key: 'b', value: '2', expiresAt })
    await write(store, { key: 'gone', value: 'x' })
    await write(store, { key: 'gone' })
    await append(store, 's', 'one', 'two')
    const entries = await store.read('s', 0, 10)
    await store.close()
    const again = await reopen()
    assert.deepEqual(await look(again, 'list#a', 'b', 'gone'), ['1', '2', undefined])
    assert.deepEqual(await again.range('list', '', 10), [{ key: 'list#a', value: '1' }])
    assert.deepEqual(await again.read('s', 0, 10), entries)
    clock.advance(span(9_999_999))
    await write(again, { key: 'c', value: '3' })
    assert.deepEqual(await look(again, 'list#a', 'b'), ['1', '2'])
  },

  'what was accepted before a close is there after a reopen': async ({ store, reopen }) => {
    const accepted = upTo(20).map(() => increment(store, 'count'))
    await store.close()
    await Promise.all(accepted)
    assert.deepEqual(await look(await reopen(), 'count'), ['20'])
  },

  'one server closing does not disturb the other': async ({ store, another }) => {
    const other = await another()
    await write(store, { key: 'a', value: '1' })
    await other.close()
    await write(store, { key: 'b', value: '2' })
    assert.deepEqual(await look(store, 'a', 'b'), ['1', '2'])
  },
}

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

export const textCases: CaseBodies = {
  'the empty value is a value, not absence': async ({ store }) => {
    await write(store, { key: 'a', value: '' })
    assert.deepEqual(await look(store, 'a', 'b'), ['', undefined])
    assert.deepEqual([...(await scanItems(store, 10))], [['a', '']])
    await append(store, 's', '')
    assert.deepEqual(
      (await store.read('s', 0, 10)).map(({ entry }) => entry),
      [''],
    )
  },

  'odd texts come back to the letter, as keys, values, entries and names': async ({ store }) => {
    for (const odd of ODD_TEXTS) {
      await write(store, { key: odd, value: odd }, { key: `${odd}#${odd}`, value: odd })
      await append(store, odd, odd)
    }
    assert.deepEqual(await look(store, ...ODD_TEXTS), ODD_TEXTS)
    for (const odd of ODD_TEXTS) {
      assert.deepEqual(await store.range(odd, '', 10), [{ key: `${odd}#${odd}`, value: odd }])
      assert.deepEqual(
        (await store.read(odd, 0, 10)).map(({ entry }) => entry),
        [odd],
      )
    }
    const all = ODD_TEXTS.flatMap((odd) => [odd, `${odd}#${odd}`])
    assert.deepEqual(await scanKeys(store, 7), all.toSorted())
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
      await assert.rejects(write(store, { key: `list#${bad}`, value: '1' }))
      await assert.rejects(append(store, bad, 'entry'))
      await assert.rejects(append(store, 's', 'entry', bad))
    }
    assert.deepEqual(await scanKeys(store, 10), [])
    assert.deepEqual(await store.read('s', 0, 10), [])
  },

  'the empty key is refused as a bug: no page could ever list it': async ({ store }) => {
    await assert.rejects(write(store, { key: '', value: '1' }))
    await assert.rejects(look(store, ''))
    assert.deepEqual(await scanKeys(store, 10), [])
  },

  'a thousand keys stay apart': async ({ store }) => {
    const keys = upTo(1_000).map((i) => `key:${i}`)
    await write(store, ...keys.map((key) => ({ key, value: key })))
    assert.deepEqual(await look(store, ...keys), keys)
  },
}
