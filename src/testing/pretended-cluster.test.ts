import { expect, test } from 'vitest'
import { listedName, nameOf } from '../core/names.ts'
import { answer, type Commit } from '../core/store.ts'
import { memory } from '../stores/memory/index.ts'
import { pretendedCluster } from './pretended-cluster.ts'

const TWO = 'a transaction stays within one partition'
const [here, beside, elsewhere] = [nameOf('p', 'a', 'x'), nameOf('q', 'a', 'y'), nameOf('p', 'b')]

const commit = (change: Partial<Commit<number>>): (() => Commit<number>) => {
  return () => ({ writes: [], appends: [], result: 1, ...change })
}

test('names of one tag share a partition and a transaction: keys, streams, lists and guesses', async () => {
  const store = pretendedCluster(memory())
  expect(store.partition(here)).toBe(store.partition(beside))
  expect(store.partition(here)).not.toBe(store.partition(elsewhere))
  const writes = [{ key: listedName(here, 'item'), value: '1' }]
  const appends = [{ stream: beside, entry: 'e' }]
  expect(await store.transact(commit({ writes, appends }), [here])).toBe(1)
  expect(await store.range(here, '', 10)).toHaveLength(1)
  expect(await store.read(beside, 0, 10)).toHaveLength(1)
})

test('a transaction that touches another partition is a bug, and writes nothing', async () => {
  const store = pretendedCluster(memory())
  const key = { key: here, value: '1' }
  for (const crossing of [
    commit({ writes: [key, { key: elsewhere, value: '1' }] }),
    commit({ writes: [key], appends: [{ stream: elsewhere, entry: 'e' }] }),
  ]) {
    await expect(store.transact(crossing)).rejects.toThrow(TWO)
  }
  await expect(store.transact(commit({ writes: [key] }), [elsewhere])).rejects.toThrow(TWO)
  await expect(store.transact(() => answer(1), [here, elsewhere])).rejects.toThrow(TWO)
  expect((await store.scan('', 10)).items).toEqual([])
})

test('a step that catches the complaint is refused all the same', async () => {
  const store = pretendedCluster(memory())
  const sly = store.transact((view) => {
    try {
      return answer(view.read(here, elsewhere))
    } catch {
      return answer([])
    }
  })
  await expect(sly).rejects.toThrow(TWO)
})
