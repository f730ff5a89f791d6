/** Many callers and several servers at once: commits are atomic, and what a step saw is still true. */
import assert from 'node:assert/strict'
import type { Intent, Key, Store, Value } from '../../core/store.ts'
import { append, type CaseBodies, increment, look, upTo, write } from './case.ts'

/** Enough calls in flight to make an unguarded store lose some, few enough for a remote one. */
const CALLS = 100

/** All of a commit or none of it. */
export const atomicityCases: CaseBodies = {
  'concurrent increments of one server lose nothing, and no two get the same answer': async ({
    store,
  }) => {
    const answers = await Promise.all(upTo(CALLS).map(() => increment(store, 'count')))
    assert.deepEqual(await look(store, 'count'), [String(CALLS)])
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      upTo(CALLS).map((i) => i + 1),
    )
  },

  'concurrent increments of two servers lose nothing, and no two get the same answer': async ({
    store,
    another,
  }) => {
    const servers = [store, await another()]
    const calls = upTo(CALLS).flatMap(() => servers.map((server) => increment(server, 'count')))
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
    const servers = [store, await another()]
    await Promise.allSettled(
      upTo(CALLS).map((i) =>
        (servers[i % 2] ?? store).transact((view) => {
          const [value] = view.read('count')
          const next = String(Number(value ?? 0) + 1)
          // Throws late, as an assertion at the end of a step would.
          const commit = {
            writes: [{ key: 'count', value: next }],
            appends: [{ stream: 'log', entry: next }],
            result: undefined,
          }
          if (i % 5 === 0) throw new Error('on purpose')
          return commit
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

  'money moved between two keys by two servers is neither lost nor made': async ({
    store,
    another,
  }) => {
    const servers = [store, await another()]
    await write(store, { key: 'left', value: '50' }, { key: 'right', value: '50' })
    await Promise.all(upTo(CALLS).map((i) => move(servers[i % 2] ?? store, i % 3 === 0 ? 1 : -1)))
    const [left, right] = await look(store, 'left', 'right')
    assert.equal(Number(left) + Number(right), 100)
  },
}

const fail = (store: Store, mistake: Error): Promise<string> =>
  store.transact((view) => {
    view.read('count')
    const commit = { writes: [{ key: 'spoilt', value: 'yes' }], appends: [], result: '' }
    if (commit.writes.length > 0) throw mistake
    return commit
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

/** Each round is one race; a store that loses one race in twenty is caught almost surely. */
const ROUNDS = 30

/** What one run sees is consistent, and still holds when its commit is applied. */
export const isolationCases: CaseBodies = {
  'of two that each need the other absent, one wins: absence is compared too': async ({
    store,
    another,
  }) => {
    const other = await another()
    for (const round of upTo(ROUNDS)) {
      const [a, b] = [`a${round}`, `b${round}`]
      const won = await Promise.all([claim(store, a, b), claim(other, b, a)])
      assert.equal(won.filter(Boolean).length, 1, `round ${round}`)
      const found = await look(store, a, b)
      assert.deepEqual(
        found.map((value) => value === 'mine'),
        won,
      )
    }
  },

  'of two that each may leave while the other stays, one leaves': async ({ store, another }) => {
    const other = await another()
    for (const round of upTo(ROUNDS)) {
      const [a, b] = [`a${round}`, `b${round}`]
      await write(store, { key: a, value: 'on duty' }, { key: b, value: 'on duty' })
      const left = await Promise.all([leave(store, a, b), leave(other, b, a)])
      assert.equal(left.filter(Boolean).length, 1, `round ${round}`)
    }
  },

  'a link is followed to where it points at the commit, though it changes meanwhile': async ({
    store,
    another,
  }) => {
    const other = await another()
    await write(store, { key: 'link', value: 'plan:0' })
    const calls: Promise<unknown>[] = []
    for (const i of upTo(ROUNDS * 4)) {
      calls.push(chargeLinked(i % 2 === 0 ? store : other))
      if (i % 10 === 5) calls.push(turnLink(i % 4 === 1 ? other : store, `plan:${i}`))
    }
    await Promise.all(calls)
    // A charge that reached a plan after the link had left it would raise the sealed count.
    const [last] = await look(store, 'link')
    let charged = Number((await look(store, `count:${last}`))[0] ?? 0)
    for (const { key, value } of await store.range('sealed', '', 1_000)) {
      const [count] = await look(store, `count:${key.slice('sealed#'.length)}`)
      assert.equal(count ?? '0', value)
      charged += Number(value)
    }
    assert.equal(charged, ROUNDS * 4)
  },

  'keys that are always written together are never seen apart, however many reads a step takes':
    async ({ store, another }) => {
      const servers = [store, await another()]
      const together = upTo(5).map((i) => `part:${i}`)
      const writeAll = (server: Store, value: string) =>
        write(server, ...together.map((key) => ({ key, value })))
      await writeAll(store, '0')
      const seen = await Promise.all(
        upTo(ROUNDS).flatMap((i) =>
          servers.flatMap((server) => [
            writeAll(server, String(i + 1)).then(() => ['written']),
            oneByOne(server, [...together, 'part:0']),
            oneByOne(server, [...together, 'part:0'], 'look'),
          ]),
        ),
      )
      for (const values of seen) assert.equal(new Set(values).size, 1)
    },
}

const oneByOne = (
  store: Store,
  keys: readonly Key[],
  intent?: Intent,
): Promise<readonly (Value | undefined)[]> =>
  store.transact(
    (view) => ({ writes: [], appends: [], result: keys.flatMap((key) => view.read(key)) }),
    keys.slice(0, 2),
    intent,
  )

const claim = (store: Store, mine: Key, theirs: Key): Promise<boolean> =>
  store.transact((view) => {
    const [taken] = view.read(theirs)
    const free = taken === undefined
    const writes = free ? [{ key: mine, value: 'mine' }] : []
    return { writes, appends: [], result: free }
  })

const leave = (store: Store, me: Key, colleague: Key): Promise<boolean> =>
  store.transact((view) => {
    const covered = view.read(colleague)[0] === 'on duty'
    const writes = covered ? [{ key: me, value: 'off duty' }] : []
    return { writes, appends: [], result: covered }
  })

const chargeLinked = (store: Store): Promise<void> =>
  store.transact((view) => {
    const [plan] = view.read('link')
    const key = `count:${plan}`
    const [count] = view.read(key)
    const next = { key, value: String(Number(count ?? 0) + 1) }
    return { writes: [next], appends: [], result: undefined }
  })

/** Points the link elsewhere and seals the count that the plan it leaves has reached. */
const turnLink = (store: Store, next: string): Promise<void> =>
  store.transact((view) => {
    const [plan] = view.read('link')
    const [count] = view.read(`count:${plan}`)
    const seal = { key: `sealed#${plan}`, value: count ?? '0' }
    return { writes: [{ key: 'link', value: next }, seal], appends: [], result: undefined }
  })
