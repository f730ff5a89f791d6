/** The store's time, as steps see it. */
import assert from 'node:assert/strict'
import { type Instant, seconds } from '../../core/time.ts'
import { type Bodies, look } from './case.ts'

const WINDOW = seconds(1)

export const time: Bodies = {
  'a step sees the time of the clock that the store was opened with': async ({ store, clock }) => {
    const now = () => store.transact((view) => ({ writes: [], appends: [], result: view.now }))
    clock.set('2030-06-01T12:00:00Z')
    assert.equal(await now(), Date.parse('2030-06-01T12:00:00Z') * 1_000)
    clock.advance(seconds(90))
    assert.equal(await now(), Date.parse('2030-06-01T12:01:30Z') * 1_000)
    clock.set('2030-06-01T11:00:00Z')
    assert.equal(await now(), Date.parse('2030-06-01T11:00:00Z') * 1_000)
  },

  'the time stands still throughout one run, though the clock moves': async ({ store, clock }) => {
    const seen = await store.transact((view) => {
      const times = [view.now]
      clock.advance(WINDOW)
      view.read('a')
      times.push(view.now)
      clock.advance(WINDOW)
      view.read('b')
      times.push(view.now)
      return { writes: [], appends: [], result: times }
    })
    assert.equal(seen.length, 3)
    assert.equal(new Set(seen).size, 1)
  },

  'a window that turns between runs: what is written belongs to the time the same run saw': async ({
    store,
    clock,
  }) => {
    for (let i = 0; i < 5; i++) {
      const now = await store.transact((view) => {
        const key = windowKey(view.now)
        const [spent] = view.read(key)
        clock.advance(WINDOW)
        const value = `${spent ?? ''}${view.now};`
        return { writes: [{ key, value }], appends: [], result: view.now }
      })
      assert.deepEqual(await look(store, windowKey(now)), [`${now};`])
    }
  },

  'many calls of one moment, across a turn: each answer agrees with its window': async ({
    store,
    another,
    clock,
  }) => {
    const nodes = [store, await another()]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (nodes[i % 2] ?? store).transact((view) => {
          const key = windowKey(view.now)
          const [count] = view.read(key)
          if (i % 7 === 0) clock.advance(WINDOW)
          const value = String(Number(count ?? 0) + 1)
          return { writes: [{ key, value }], appends: [], result: view.now }
        }),
      ),
    )
    const counts = new Map<string, number>()
    for (const now of answers) counts.set(windowKey(now), (counts.get(windowKey(now)) ?? 0) + 1)
    for (const [key, count] of counts) assert.deepEqual(await look(store, key), [String(count)])
  },
}

const windowKey = (now: Instant): string => `window:${Math.floor(now / WINDOW)}`
