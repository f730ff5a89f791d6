import { describe, expect, test } from 'vitest'
import { answer, type Plan, type Step, type Store, type Value, type View } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { memoryStore } from '../stores/memory/index.ts'
import type { ContractCase, OpenStore } from './contract/case.ts'
import { restlessStore } from './restless-store.ts'
import { storeContract } from './store-contract.ts'

type Wrap = (store: Store, clock: Clock) => Store

const opening =
  (wrap: Wrap): OpenStore =>
  async ({ clock }) => {
    const inner = memoryStore({ clock })
    const store = wrap(inner, clock)
    return { store, another: async () => wrap(inner, clock), dispose: inner.close }
  }

/** The names of the cases that a store fails. */
async function failures(wrap: Wrap): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of storeContract(opening(wrap), { skip: NOT_FOR_MEMORY })) {
    await run().catch(() => failed.push(name))
  }
  return failed
}

const NOT_FOR_MEMORY = {
  'a position is never used twice, though the store was reopened in between': 'forgets',
  'what was answered is there after a reopen: values, expiries, lists and streams': 'forgets',
  'what was accepted before a close is there after a reopen': 'forgets',
  'one node closing does not disturb the other': 'both nodes are one store here',
}

describe('the suite tells good stores from bad ones', () => {
  test('a good store passes', async () => {
    expect(await failures((store) => store)).toEqual([])
  })

  test('a good store passes however often it runs each step', async () => {
    expect(await failures((store) => restlessStore(store, Math.random))).toEqual([])
  })

  test('a store that reads, pauses and then writes loses updates', async () => {
    const lost = await failures((store) => ({ ...store, transact: unguarded(store) }))
    expect(lost).toEqual(
      expect.arrayContaining([
        'concurrent increments of one node lose nothing, and no two get the same answer',
        'concurrent increments of two nodes lose nothing, and no two get the same answer',
        'of two that each need the other absent, one wins: absence is compared too',
        'of two that each may leave while the other stays, one leaves',
        'a link is followed to where it points at the commit, though it changes meanwhile',
      ]),
    )
  })

  test('a store that compares only the keys it writes lets skew through', async () => {
    const skewed = await failures((store) => ({ ...store, transact: comparing(store, 'written') }))
    expect(skewed).toEqual(
      expect.arrayContaining([
        'of two that each need the other absent, one wins: absence is compared too',
        'of two that each may leave while the other stays, one leaves',
      ]),
    )
  })

  test('a store that compares every key it read passes, though it runs steps again', async () => {
    const failed = await failures((store) => ({ ...store, transact: comparing(store, 'read') }))
    // Its close is that of the store inside, which knows nothing of calls between look and commit.
    expect(failed).toEqual(['close finishes what was accepted'])
  })

  test('a store whose time runs on under a step puts charges into the wrong window', async () => {
    const running = await failures((store, clock) => ({
      ...store,
      transact: (step) => store.transact(({ read }) => step(live(clock, read))),
    }))
    expect(running).toEqual([
      'the time stands still throughout one run, though the clock moves',
      'a window that turns between runs: what is written belongs to the time the same run saw',
      'many calls of one moment, across a turn: each answer agrees with its window',
    ])
  })

  test('a store that applies writes and entries apart is caught between them', async () => {
    const torn = await failures((store) => ({
      ...store,
      transact: async (step) => {
        const { appends, ...plan } = await store.transact((view) => answer(step(view)))
        await store.transact(() => ({ writes: [], appends, result: undefined }))
        return store.transact(() => ({ ...plan, appends: [] }))
      },
    }))
    expect(torn).toContain('entries and values land together')
  })
})

describe('skipping', () => {
  test('a skipped case comes back with its reason and does nothing', async () => {
    const name = 'what was written is read'
    const open = () => Promise.reject(new Error('must not be opened'))
    const [found] = storeContract(open, { skip: { [name]: 'cannot write' } }).filter(
      (one: ContractCase) => one.name === name,
    )
    expect(found?.skipped).toBe('cannot write')
    await found?.run()
  })

  test('a name that no case has is refused, so that no skip outlives its case', () => {
    expect(() =>
      storeContract(
        opening((store) => store),
        { skip: { nonsense: 'x' } },
      ),
    ).toThrow(expect.objectContaining({ code: 'TESTING_UNKNOWN_CASE', finding: '"nonsense"' }))
  })

  test('a case that needs what the store has not fails and says so', async () => {
    const cases = storeContract(opening((store) => store))
    const durable = cases.find(({ name }) => name.includes('accepted before a close'))
    await expect(durable?.run()).rejects.toThrow('this case needs `reopen`')
  })
})

const live = (clock: Clock, read: View['read']): View => ({
  get now() {
    return clock()
  },
  read,
})

/** Lets others in between the reads and the writes, and compares nothing. */
const unguarded =
  (store: Store): Store['transact'] =>
  async (step) => {
    const plan = await store.transact((view) => answer(step(view)))
    await new Promise(setImmediate)
    return store.transact(() => plan)
  }

/** What a remote store does: looks, pauses, then commits if what it read is still so. */
const comparing =
  (store: Store, compared: 'read' | 'written'): Store['transact'] =>
  async (step) => {
    for (;;) {
      const { plan, seen } = await store.transact((view) => answer(rehearse(step, view)))
      await new Promise(setImmediate)
      const committed = await store.transact((view): Plan<boolean> => {
        const written = new Set(plan.writes.map(({ key }) => key))
        for (const [key, value] of seen) {
          if (compared === 'written' && !written.has(key)) continue
          if (view.read(key)[0] !== value) return answer(false)
        }
        return { ...plan, result: true }
      })
      if (committed) return plan.result
    }
  }

function rehearse<R>(step: Step<R>, view: View) {
  const seen = new Map<string, Value | undefined>()
  const plan = step({
    now: view.now,
    read: (...keys) => {
      const values = view.read(...keys)
      for (const [i, key] of keys.entries()) seen.set(key, values[i])
      return values
    },
  })
  return { plan, seen }
}
