/** All of a plan or none of it, whoever else is writing. */
import assert from 'node:assert/strict'
import type { Store } from '../../core/store.ts'
import { append, type Bodies, increment, look, upTo, write } from './case.ts'

/** Enough calls in flight to make an unguarded store lose some, few enough for a remote one. */
const CALLS = 100

export const atomicity: Bodies = {
  'concurrent increments of one node lose nothing, and no two get the same answer': async ({
    store,
  }) => {
    const answers = await Promise.all(upTo(CALLS).map(() => increment(store, 'count')))
    assert.deepEqual(await look(store, 'count'), [String(CALLS)])
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      upTo(CALLS).map((i) => i + 1),
    )
  },

  'concurrent increments of two nodes lose nothing, and no two get the same answer': async ({
    store,
    another,
  }) => {
    const nodes = [store, await another()]
    const calls = upTo(CALLS).flatMap(() => nodes.map((node) => increment(node, 'count')))
    const answers = await Promise.all(calls)
    assert.deepEqual(await look(store, 'count'), [String(2 * CALLS)])
    assert.equal(new Set(answers).size, 2 * CALLS)
  },

  'a step that throws writes nothing, rejects with what it threw, and leaves its neighbours alone':
    async ({ store }) => {
      const mistake = new Error('on purpose')
      const calls = upTo(CALLS).map((i) =>
        i % 3 === 0 ? fail(store, mistake) : increment(store, 'count').then(String),
      )
      const settled = await Promise.allSettled(calls)
      for (const [i, outcome] of settled.entries()) {
        if (i % 3 !== 0) assert.equal(outcome.status, 'fulfilled')
        else assert.deepEqual(outcome, { status: 'rejected', reason: mistake })
      }
      const kept = settled.filter(({ status }) => status === 'fulfilled').length
      assert.deepEqual(await look(store, 'count', 'spoilt'), [String(kept), undefined])
    },

  'entries and values land together': async ({ store, another }) => {
    const nodes = [store, await another()]
    await Promise.allSettled(
      upTo(CALLS).map((i) =>
        (nodes[i % 2] ?? store).transact((view) => {
          const [value] = view.read('count')
          const next = String(Number(value ?? 0) + 1)
          // Throws after planning, as an assertion at the end of a step would.
          const plan = {
            writes: [{ key: 'count', value: next }],
            appends: [{ stream: 'log', entry: next }],
            result: undefined,
          }
          if (i % 5 === 0) throw new Error('on purpose')
          return plan
        }),
      ),
    )
    const entries = (await store.read('log', 0, 1_000)).map(({ entry }) => entry)
    assert.deepEqual(
      entries,
      upTo(CALLS * 0.8).map((i) => String(i + 1)),
    )
    assert.deepEqual(await look(store, 'count'), [String(entries.length)])
  },

  'a refused neighbour does not shift the order of a stream': async ({ store }) => {
    await Promise.allSettled([
      append(store, 'log', 'first', 'second'),
      fail(store, new Error('on purpose')),
      append(store, 'log', 'third'),
    ])
    const entries = await store.read('log', 0, 10)
    assert.deepEqual(
      entries.map(({ entry }) => entry),
      ['first', 'second', 'third'],
    )
  },

  'money moved between two keys by two nodes is neither lost nor made': async ({
    store,
    another,
  }) => {
    const nodes = [store, await another()]
    await write(store, { key: 'left', value: '50' }, { key: 'right', value: '50' })
    await Promise.all(upTo(CALLS).map((i) => move(nodes[i % 2] ?? store, i % 3 === 0 ? 1 : -1)))
    const [left, right] = await look(store, 'left', 'right')
    assert.equal(Number(left) + Number(right), 100)
  },
}

const fail = (store: Store, mistake: Error): Promise<string> =>
  store.transact((view) => {
    view.read('count')
    const plan = { writes: [{ key: 'spoilt', value: 'yes' }], appends: [], result: '' }
    if (plan.writes.length > 0) throw mistake
    return plan
  })

const move = (store: Store, amount: number): Promise<void> =>
  store.transact((view) => {
    const [left, right] = view.read('left', 'right')
    return {
      writes: [
        { key: 'left', value: String(Number(left) - amount) },
        { key: 'right', value: String(Number(right) + amount) },
      ],
      appends: [],
      result: undefined,
    }
  })
