/** A record in each shard: what holds where a look or a repair reaches only some of them. */
import { expect, test } from 'vitest'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { answer, type Store } from '../../core/store.ts'
import { memory } from '../../stores/memory/index.ts'
import { pretendedCluster } from '../../testing/index.ts'
import { readAudit } from './audit.ts'
import { repairClock, watchClock } from './clock-guard.ts'
import { clockKey, clockRefusal } from './clock-record.ts'
import { SHARDS } from './shards.ts'

const FIVE_HOURS = 5 * 3_600

const leapt = async (wrap: (store: Store) => Store) => {
  const { clock, leap, read } = fakeMachine()
  const store = wrap(memory({ clock }))
  const watch = () => watchClock({ store, machine: read })
  await watch()
  leap(FIVE_HOURS)
  return { read, store, watch }
}

test('a repair is one entry for each partition that it mended', async () => {
  for (const [wrap, entries] of [
    [(store: Store) => store, 1],
    [pretendedCluster, SHARDS.length],
  ] as const) {
    const { read, store } = await leapt(wrap)
    await repairClock({ store, machine: read })
    expect((await readAudit(store, '', 100)).entries).toHaveLength(entries)
  }
})

test('one that reached only some shards is finished by another, and until then the others sign nothing', async () => {
  const { read, store, watch } = await leapt(pretendedCluster)
  const [first = '', ...others] = SHARDS
  const torn: Store = {
    ...store,
    transact: (step, guess = [], intent) =>
      guess.includes(clockKey(first))
        ? store.transact(step, guess, intent)
        : Promise.reject(new Error('the node')),
  }
  await expect(repairClock({ store: torn, machine: read })).rejects.toThrow('the node')
  expect(await watch()).toMatchObject({ trusted: false, reason: 'leapt' })
  const verdicts = (shard: string) =>
    store.transact((view) => answer(clockRefusal(view, shard, read()) === undefined))
  expect(await verdicts(first)).toBe(true)
  for (const shard of others) expect(await verdicts(shard)).toBe(false)
  await repairClock({ store, machine: read })
  expect(await watch()).toMatchObject({ trusted: true })
  for (const shard of SHARDS) expect(await verdicts(shard)).toBe(true)
})
