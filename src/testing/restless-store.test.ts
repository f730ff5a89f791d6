import { expect, test } from 'vitest'
import { answer, type Commit, type View } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from './fake-clock.ts'
import { restlessStore } from './restless-store.ts'

const increment = (view: View): Commit<number> => {
  const count = Number(view.read('count')[0] ?? 0) + 1
  return { writes: [{ key: 'count', value: `${count}` }], appends: [], result: count }
}

test('a pure step has its effect once, however often it ran', async () => {
  let runs = 0
  const store = restlessStore(memory(), Math.random)
  for (let i = 1; i <= 50; i++) {
    const result = await store.transact((view) => {
      runs += 1
      return increment(view)
    })
    expect(result).toBe(i)
  }
  expect(runs).toBeGreaterThanOrEqual(100)
})

test('a step that counts on its own, or draws lots, is caught', async () => {
  const store = restlessStore(memory(), Math.random)
  let count = 0
  const counting = store.transact(() => {
    count += 1
    return { writes: [{ key: 'count', value: `${count}` }], appends: [], result: undefined }
  })
  await expect(counting).rejects.toThrow('two runs over one view commit the same')
  const drawing = store.transact(() => answer(Math.random()))
  await expect(drawing).rejects.toThrow('two runs over one view commit the same')
})

test('rehearsals show nothing, the past, and other times', async () => {
  const clock = fakeClock()
  const store = restlessStore(memory({ clock }), Math.random)
  const values = new Set<string | undefined>()
  const times = new Set<Instant>()
  for (let i = 0; i < 200; i++) {
    await store.transact((view) => {
      values.add(view.read('count')[0])
      times.add(view.now)
      return increment(view)
    })
  }
  expect(values).toContain(undefined)
  expect(times.size).toBeGreaterThan(100)
})

test('a step may refuse a view that never was; what it throws on the real one passes', async () => {
  const store = restlessStore(memory(), Math.random)
  await store.transact(() => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 0 }))
  const strict = (view: View) => {
    const [value] = view.read('a')
    if (value === undefined) throw new Error('there must be an a')
    return answer(value)
  }
  for (let i = 0; i < 20; i++) expect(await store.transact(strict)).toBe('1')
  const failing = store.transact(() => {
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
})
