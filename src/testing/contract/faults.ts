/** What a store does when something fails under a step, at its commit, or on the way back. */
import assert from 'node:assert/strict'
import { StoreError } from '../../core/errors.ts'
import type { Commit, Store, View } from '../../core/store.ts'
import { append, type CaseBodies, increment, look, scanKeys, upTo, write } from './case.ts'

export const faultCases: CaseBodies = {
  'a commit that fails answers nobody, leaves nothing, and is over when its cause is': async ({
    store,
    suffer,
  }) => {
    await write(store, { key: 'count', value: '7' })
    await suffer('breakCommits', true)
    const calls = upTo(10).flatMap((): Promise<unknown>[] => [
      increment(store, 'count'),
      append(store, 's', 'entry'),
      write(store, { key: 'list#a', value: '1' }),
    ])
    for (const outcome of await Promise.allSettled(calls)) assertUnwell(outcome)
    await suffer('breakCommits', false)
    assert.deepEqual(await look(store, 'count', 'list#a'), ['7', undefined])
    assert.deepEqual(await scanKeys(store, 10), ['count'])
    assert.deepEqual(await store.read('s', 0, 10), [])
    assert.equal(await increment(store, 'count'), 8)
  },

  'a read that fails fails the call, though the step caught it and went on': async ({
    store,
    suffer,
  }) => {
    await write(store, { key: 'blocked', value: 'yes' })
    await suffer('breakReads', true)
    const calls = upTo(5).flatMap(() => [carelessly(store, 'commit'), carelessly(store, 'throw')])
    for (const outcome of await Promise.allSettled(calls)) assertUnwell(outcome)
    await suffer('breakReads', false)
    assert.deepEqual(await store.read('admitted', 0, 10), [])
    assert.equal(await carelessly(store, 'commit'), 'yes')
    assert.deepEqual(await scanKeys(store, 10), ['blocked'])
  },

  'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
    async ({ store, another, suffer }) => {
      const other = await another()
      await suffer('loseReplies', true)
      const lost = await Promise.allSettled([
        increment(store, 'count'),
        append(store, 's', 'entry'),
      ])
      for (const outcome of lost) assertUnwell(outcome)
      await suffer('loseReplies', false)
      for (const server of [store, other]) {
        assert.deepEqual(await look(server, 'count'), ['1'])
        assert.equal((await server.read('s', 0, 10)).length, 1)
      }
    },

  'a call that carries an id and is made again after a lost reply has its effect once': async ({
    store,
    another,
    suffer,
  }) => {
    const other = await another()
    await suffer('loseReplies', true)
    for (const i of upTo(5)) assertUnwell(...(await Promise.allSettled([chargeOnce(store, i)])))
    await suffer('loseReplies', false)
    const again = await Promise.all(upTo(5).map((i) => chargeOnce(i % 2 === 0 ? store : other, i)))
    // In any order: a store that heard nothing may have stopped asking before the last of them.
    assert.deepEqual(
      again.toSorted(),
      upTo(5).map((i) => i + 1),
    )
    assert.deepEqual(await look(store, 'count'), ['5'])
  },
}

function assertUnwell(...outcomes: readonly PromiseSettledResult<unknown>[]): void {
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') assert.fail(`answered: ${String(outcome.value)}`)
    assert.ok(outcome.reason instanceof StoreError, String(outcome.reason))
  }
}

/** Takes a read that fails for a key that is absent, and so admits what is blocked. */
const carelessly = (store: Store, then: 'commit' | 'throw'): Promise<string | undefined> =>
  store.transact((view): Commit<string | undefined> => {
    const blocked = readOrNothing(view)
    if (then === 'throw') throw new Error('on purpose')
    const admitted = { stream: 'admitted', entry: 'admitted' }
    return { writes: [], appends: blocked === undefined ? [admitted] : [], result: blocked }
  })

function readOrNothing(view: View): string | undefined {
  try {
    return view.read('blocked')[0]
  } catch {
    return undefined
  }
}

/** Remembers the answer under the id of the call, as operations do. */
const chargeOnce = (store: Store, id: number): Promise<number> =>
  store.transact(
    (view) => {
      const [known, count] = view.read(`operation:${id}`, 'count')
      if (known !== undefined) return { writes: [], appends: [], result: Number(known) }
      const value = String(Number(count ?? 0) + 1)
      const writes = [
        { key: `operation:${id}`, value },
        { key: 'count', value },
      ]
      return { writes, appends: [], result: Number(value) }
    },
    [`operation:${id}`, 'count'],
  )
