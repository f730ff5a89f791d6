/** What one run sees hangs together, and still holds when its plan is applied. */
import assert from 'node:assert/strict'
import type { Key, Store } from '../../core/store.ts'
import { type Bodies, look, upTo, write } from './case.ts'

/** Each round is one race; a store that loses one race in twenty is caught almost surely. */
const ROUNDS = 30

export const isolation: Bodies = {
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
      const [count] = await look(store, `count:${key.slice('sealed:'.length)}`)
      assert.equal(count ?? '0', value)
      charged += Number(value)
    }
    assert.equal(charged, ROUNDS * 4)
  },

  'a step that only looks sees one moment, however many reads it takes': async ({
    store,
    another,
  }) => {
    const other = await another()
    const both = (value: string) => write(other, { key: 'a', value }, { key: 'b', value })
    await both('0')
    const seen = await Promise.all(
      upTo(ROUNDS).flatMap((i) => [
        both(String(i + 1)).then(() => undefined),
        store.transact((view) => {
          const [a] = view.read('a')
          const [b] = view.read('b')
          const [again] = view.read('a')
          return { writes: [], appends: [], result: [a, b, again] }
        }),
      ]),
    )
    for (const triple of seen) if (triple !== undefined) assert.equal(new Set(triple).size, 1)
  },
}

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
    const seal = { key: `sealed:${plan}`, value: count ?? '0', index: 'sealed' }
    return { writes: [{ key: 'link', value: next }, seal], appends: [], result: undefined }
  })
