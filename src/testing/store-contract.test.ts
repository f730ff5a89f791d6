import { describe, expect, test } from 'vitest'
import { StoreError } from '../core/errors.ts'
import {
  answer,
  type Commit,
  type Entry,
  type Step,
  type Store,
  type Value,
  type View,
} from '../core/store.ts'
import { type Clock, span } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import type { ContractCase, OpenStore } from './contract/case.ts'
import { pretendedCluster } from './pretended-cluster.ts'
import { remoteStore } from './remote-store.ts'
import { restlessStore } from './restless-store.ts'
import { storeContract } from './store-contract.ts'

type Wrap = (store: Store, clock: Clock) => Store

const opening =
  (wrap: Wrap): OpenStore =>
  async ({ clock, uptime }) => {
    const inner = memory({ clock, uptime })
    const store = wrap(inner, clock)
    return { store, another: async () => wrap(inner, clock), dispose: inner.close }
  }

/** The names of the cases that a store fails. */
const failures = (wrap: Wrap): Promise<string[]> => failuresOf(opening(wrap))

async function failuresOf(
  open: OpenStore,
  skip: Readonly<Record<string, string>> = NOT_FOR_MEMORY,
): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of storeContract(open, { skip })) {
    await run().catch(() => failed.push(name))
  }
  return failed
}

const COMMIT_FAILS =
  'a commit that fails answers nobody, leaves nothing, and is over when its cause is'
const READ_FAILS = 'a read that fails fails the call, though the step caught it and went on'
const CANNOT_FAIL = 'nothing can fail here'

const NOT_FOR_MEMORY = {
  'a position is never used twice, though the store was reopened in between': 'forgets',
  'what was answered is there after a reopen: values, expiries, lists and streams': 'forgets',
  'what was accepted before a close is there after a reopen': 'forgets',
  'a fence outlives the servers': 'forgets',
  'one server closing does not disturb the other': 'both servers are one store here',
  [COMMIT_FAILS]: CANNOT_FAIL,
  [READ_FAILS]: CANNOT_FAIL,
  'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
    CANNOT_FAIL,
  'a call that carries an id and is made again after a lost reply has its effect once': CANNOT_FAIL,
}

/** A remote store can fail, and its servers close one by one; what it is over forgets. */
const NOT_FOR_REMOTE = Object.fromEntries(
  Object.entries(NOT_FOR_MEMORY).filter(([, reason]) => reason === 'forgets'),
)

/** Servers of their own on one backend, with every fault that a network has. */
const openingRemote =
  (wrap: (backend: Store) => Store = (backend) => backend): OpenStore =>
  async ({ clock, uptime }) => {
    const inner = wrap(memory({ clock, uptime }))
    let [broken, losing] = [false, false]
    const unwell = { code: 'STORE_UNAVAILABLE', thing: 'it', rule: 'must be reachable' } as const
    const backend: Store = {
      ...inner,
      transact: (...call) =>
        broken ? Promise.reject(new StoreError(unwell)) : inner.transact(...call),
    }
    const server = () => remoteStore(backend, { clock, losesReply: () => losing })
    const breakAll = async (on: boolean) => {
      broken = on
    }
    const loseReplies = async (on: boolean) => {
      losing = on
    }
    return {
      store: server(),
      another: async () => server(),
      breakCommits: breakAll,
      breakReads: breakAll,
      loseReplies,
      dispose: inner.close,
    }
  }

describe('the suite passes good stores and fails bad ones', () => {
  test('a good store passes', async () => {
    expect(await failures((store) => store)).toEqual([])
  })

  test('a good store passes however often it runs each step', async () => {
    expect(await failures((store) => restlessStore(store, Math.random))).toEqual([])
  })

  test('a cluster passes whole: the suite stays within one partition', async () => {
    expect(await failures(pretendedCluster)).toEqual([])
    const restlessCluster = (store: Store) => restlessStore(pretendedCluster(store), Math.random)
    expect(await failures(restlessCluster)).toEqual([])
  })

  test('a remote store passes, also where it is a cluster', async () => {
    expect(await failuresOf(openingRemote(), NOT_FOR_REMOTE)).toEqual([])
    expect(await failuresOf(openingRemote(pretendedCluster), NOT_FOR_REMOTE)).toEqual([])
  })

  test('a store reads through the names that it is given', async () => {
    const namer = (tag: string, part: string) => `tests:{${tag}}:${part}`
    const names = new Set<string>()
    const open = opening((store) => ({
      ...store,
      transact: (step, guess, intent) =>
        store.transact(
          (view) => {
            const commit = step(view)
            for (const { key } of commit.writes) names.add(key)
            return commit
          },
          guess,
          intent,
        ),
    }))
    const [first] = storeContract(open, { namer })
    await first?.run()
    expect(names).toEqual(new Set(['tests:{here}:a', 'tests:{here}:b']))
  })

  test('a store that reads, pauses and then writes loses updates', async () => {
    const lost = await failures((store) => ({ ...store, transact: unguarded(store) }))
    expect(lost).toEqual(
      expect.arrayContaining([
        'concurrent increments of one server lose nothing, and no two get the same answer',
        'concurrent increments of two servers lose nothing, and no two get the same answer',
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
      transact: (step, guess, intent) =>
        store.transact(({ read }) => step(live(clock, read)), guess, intent),
    }))
    expect(running).toEqual([
      'the time is the same throughout one run, though the clock moves',
      'a window that turns between runs: what is written belongs to the time the same run saw',
      'many calls of one moment, across a turn: each answer agrees with its window',
    ])
  })

  test('a store that reads its clock before it has the state shows states of the future', async () => {
    let calls = 0
    const early = await failures((store, clock) => ({
      ...store,
      transact: async (step, guess, intent) => {
        const now = clock()
        calls += 1
        for (let turns = calls % 3; turns > 0; turns--) await new Promise(setImmediate)
        return store.transact(({ read }) => step({ now, read }), guess, intent)
      },
    }))
    expect(early).toContain(
      'no run sees a state that is newer than its time, though two servers race and the clock runs on',
    )
  })

  test('a store that shows some entries later than those behind them loses them to followers', async () => {
    const late = await failures((store) => {
      const shown = new Set<number>()
      const isShown = ({ position }: Entry): boolean =>
        position % 5 !== 0 || shown.has(position) || !shown.add(position)
      return { ...store, read: async (...page) => (await store.read(...page)).filter(isShown) }
    })
    expect(late).toContain(
      'no position becomes visible after a larger one, however many appends are in flight',
    )
  })

  test('a store that answers before its commit, or takes a failed read for absence, is caught', async () => {
    const hasty: OpenStore = async ({ clock, uptime }) => {
      const inner = memory({ clock, uptime })
      let broken: 'commits' | 'reads' | undefined
      const transact: Store['transact'] = (step, guess, intent) => {
        const failing = () => {
          throw new Error('cannot read')
        }
        if (broken === 'reads')
          return inner.transact(({ now }) => step({ now, read: failing }), guess, intent)
        if (broken === 'commits') return inner.transact((view) => answer(step(view).result))
        return inner.transact(step, guess, intent)
      }
      return {
        store: { ...inner, transact },
        another: async () => inner,
        breakCommits: async (on) => {
          broken = on ? 'commits' : undefined
        },
        breakReads: async (on) => {
          broken = on ? 'reads' : undefined
        },
        dispose: inner.close,
      }
    }
    expect(await failuresOf(hasty)).toEqual([])
    const { [COMMIT_FAILS]: _, [READ_FAILS]: __, ...skip } = NOT_FOR_MEMORY
    expect(await failuresOf(hasty, skip)).toEqual([COMMIT_FAILS, READ_FAILS])
  })

  test('a store that forgets by its clock alone loses what a leaping clock returns to', async () => {
    const forgetful: OpenStore = async ({ clock }) => {
      const store = memory({ clock, uptime: () => span(clock()) })
      return { store, another: async () => store, dispose: store.close }
    }
    expect(await failuresOf(forgetful)).toEqual([
      'a clock that leaps ahead and returns has forgotten nothing, nor hidden it meanwhile',
    ])
  })

  test('a store that applies writes and entries apart is caught between them', async () => {
    const torn = await failures((store) => ({
      ...store,
      transact: async (step) => {
        const { appends, ...commit } = await store.transact((view) => answer(step(view)))
        await store.transact(() => ({ writes: [], appends, result: undefined }))
        return store.transact(() => ({ ...commit, appends: [] }))
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
    const commit = await store.transact((view) => answer(step(view)))
    await new Promise(setImmediate)
    return store.transact(() => commit)
  }

/** What a remote store does: looks, pauses, then commits if what it read is still so. */
const comparing =
  (store: Store, compared: 'read' | 'written'): Store['transact'] =>
  async (step, _guess, intent) => {
    for (;;) {
      const { commit, seen } = await store.transact((view) => answer(rehearse(step, view)))
      await new Promise(setImmediate)
      const committed = await store.transact(
        (view): Commit<boolean> => {
          const written = new Set(commit.writes.map(({ key }) => key))
          for (const [key, value] of seen) {
            if (compared === 'written' && !written.has(key)) continue
            if (view.read(key)[0] !== value) return answer(false)
          }
          return { ...commit, result: true }
        },
        [],
        intent,
      )
      if (committed) return commit.result
    }
  }

function rehearse<R>(step: Step<R>, view: View) {
  const seen = new Map<string, Value | undefined>()
  const commit = step({
    now: view.now,
    read: (...keys) => {
      const values = view.read(...keys)
      for (const [i, key] of keys.entries()) seen.set(key, values[i])
      return values
    },
  })
  return { commit, seen }
}
