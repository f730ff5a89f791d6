/** Closing, and what a durable store still has afterwards. */
import assert from 'node:assert/strict'
import { after, seconds } from '../../core/time.ts'
import { append, type Bodies, increment, look, upTo, write } from './case.ts'

export const lifetime: Bodies = {
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
    await write(store, { key: 'a', value: '1', index: 'list' }, { key: 'b', value: '2', expiresAt })
    await write(store, { key: 'gone', value: 'x' })
    await write(store, { key: 'gone' })
    await append(store, 's', 'one', 'two')
    const entries = await store.read('s', 0, 10)
    await store.close()
    const again = await reopen()
    assert.deepEqual(await look(again, 'a', 'b', 'gone'), ['1', '2', undefined])
    assert.deepEqual(await again.range('list', '', 10), [{ key: 'a', value: '1' }])
    assert.deepEqual(await again.read('s', 0, 10), entries)
    clock.advance(seconds(10))
    assert.deepEqual(await look(again, 'a', 'b'), ['1', undefined])
  },

  'what was accepted before a close is there after a reopen': async ({ store, reopen }) => {
    const accepted = upTo(20).map(() => increment(store, 'count'))
    await store.close()
    await Promise.all(accepted)
    assert.deepEqual(await look(await reopen(), 'count'), ['20'])
  },

  'one node closing does not disturb the other': async ({ store, another }) => {
    const other = await another()
    await write(store, { key: 'a', value: '1' })
    await other.close()
    await write(store, { key: 'b', value: '2' })
    assert.deepEqual(await look(store, 'a', 'b'), ['1', '2'])
  },
}
