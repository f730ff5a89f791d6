/** The store's time as steps see it, and expiry: forgetting, never a rule. */
import assert from 'node:assert/strict'
import { answer, type Intent, type Store } from '../../core/store.ts'
import {
  after,
  type Clock,
  days,
  hours,
  type Instant,
  instant,
  seconds,
  span,
} from '../../core/time.ts'
import { type CaseBodies, look, scanItems, scanKeys, upTo, write } from './case.ts'

const WINDOW = seconds(1)

export const timeCases: CaseBodies = {
  'a step sees the time of the clock that the store was opened with': async ({ store, clock }) => {
    const now = () => store.transact((view) => ({ writes: [], appends: [], result: view.now }))
    clock.set('2030-06-01T12:00:00Z')
    assert.equal(await now(), Date.parse('2030-06-01T12:00:00Z') * 1_000)
    clock.advance(seconds(90))
    assert.equal(await now(), Date.parse('2030-06-01T12:01:30Z') * 1_000)
    clock.set('2030-06-01T11:00:00Z')
    assert.equal(await now(), Date.parse('2030-06-01T11:00:00Z') * 1_000)
  },

  'the time is the same throughout one run, though the clock moves': async ({ store, clock }) => {
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

  'no run sees a state that is newer than its time, though two servers race and the clock runs on':
    async ({ store, another, tick }) => {
      const servers = [store, await another()]
      tick()
      const early: string[] = []
      for (const _ of upTo(20)) {
        const calls = upTo(20).flatMap((i) => {
          const server = servers[i % 2] ?? store
          return [stamp(server), newest(server, 'look'), newest(server)]
        })
        for (const [now, newest] of await Promise.all(calls)) {
          if (now < newest) early.push(`${newest} was seen at ${now}`)
        }
      }
      assert.deepEqual(early, [])
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
    const servers = [store, await another()]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (servers[i % 2] ?? store).transact((view) => {
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

type Sight = readonly [now: number, newest: number]

/** Writes its time, and answers it with the one it found. */
const stamp = (store: Store): Promise<Sight> =>
  store.transact((view) => {
    const found = Number(view.read('newest')[0] ?? 0)
    const writes = [{ key: 'newest', value: String(view.now) }]
    return { writes, appends: [], result: [view.now, found] }
  })

const newest = (store: Store, intent?: Intent): Promise<Sight> =>
  store.transact(
    (view) => answer([view.now, Number(view.read('newest')[0] ?? 0)] as const),
    ['newest'],
    intent,
  )

const windowKey = (now: Instant): string => `window:${Math.floor(now / WINDOW)}`

/** Other keys are written, as many as may be, so that the store has reason to forget. */
async function bustle(store: Store, clock: Clock): Promise<void> {
  for (const i of upTo(20)) {
    const expiresAt = after(clock(), hours(1))
    await write(store, ...upTo(10).map((j) => ({ key: `other:${j}`, value: `${i}`, expiresAt })))
  }
}

export const expiryCases: CaseBodies = {
  'a key is there until its expiry, to steps, ranges and scans alike': async ({ store, clock }) => {
    const expiresAt = after(clock(), seconds(10))
    await write(store, { key: 'list#a', value: '1', expiresAt })
    clock.advance(span(9_999_999))
    await bustle(store, clock)
    assert.deepEqual(await look(store, 'list#a'), ['1'])
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'list#a', value: '1' }])
    assert.equal((await scanItems(store, 10)).get('list#a'), '1')
  },

  'a clock that leaps ahead and returns has forgotten nothing, nor hidden it meanwhile': async ({
    store,
    clock,
  }) => {
    const start = clock()
    const keys = upTo(50).map((i) => `list#${String(i).padStart(2, '0')}`)
    const expiresAt = after(start, seconds(10))
    await write(store, ...keys.map((key) => ({ key, value: 'x', expiresAt })))
    clock.advance(seconds(1))
    clock.set(after(start, days(365)))
    await bustle(store, clock)
    const held = keys.map(() => 'x')
    assert.deepEqual(await look(store, ...keys), held)
    assert.equal((await store.range('list', '', 100)).length, 50)
    const shown = await scanItems(store, 50)
    for (const key of keys) assert.equal(shown.get(key), 'x')
    clock.set(after(start, seconds(2)))
    await bustle(store, clock)
    assert.deepEqual(await look(store, ...keys), held)
  },

  'a clock that steps back keeps for longer, never shorter': async ({ store, clock }) => {
    await write(store, { key: 'a', value: '1', expiresAt: after(clock(), seconds(10)) })
    clock.set(instant(clock() - days(1)))
    clock.advance(seconds(20))
    await bustle(store, clock)
    assert.deepEqual(await look(store, 'a'), ['1'])
  },

  'what is written already expired may be forgotten at once, and can be written anew': async ({
    store,
    clock,
  }) => {
    await write(store, { key: 'a', value: '1', expiresAt: clock() })
    await bustle(store, clock)
    await write(store, { key: 'a', value: '2' })
    await bustle(store, clock)
    assert.deepEqual(await look(store, 'a'), ['2'])
  },

  'a key without an expiry stays for a hundred years of other writes': async ({ store, clock }) => {
    await write(store, { key: 'a', value: '1' })
    for (const year of upTo(100)) {
      clock.advance(days(365))
      await write(store, { key: 'b', value: `${year}`, expiresAt: after(clock(), hours(1)) })
    }
    assert.deepEqual(await look(store, 'a'), ['1'])
  },

  'a later write replaces the expiry of an earlier one, with another or with none': async ({
    store,
    clock,
  }) => {
    const soon = after(clock(), seconds(1))
    await write(
      store,
      { key: 'longer', value: '1', expiresAt: soon },
      { key: 'forever', value: '1', expiresAt: soon },
    )
    await write(
      store,
      { key: 'longer', value: '2', expiresAt: after(soon, seconds(1)) },
      { key: 'forever', value: '2' },
    )
    clock.advance(seconds(1))
    await bustle(store, clock)
    assert.deepEqual(await look(store, 'longer', 'forever'), ['2', '2'])
    clock.advance(days(365))
    await bustle(store, clock)
    assert.deepEqual(await look(store, 'forever'), ['2'])
  },

  'a key comes back when it is written after its expiry': async ({ store, clock }) => {
    await write(store, { key: 'a', value: '1', expiresAt: after(clock(), seconds(1)) })
    clock.advance(seconds(2))
    await write(store, { key: 'a', value: '2', expiresAt: after(clock(), seconds(1)) })
    assert.deepEqual(await look(store, 'a'), ['2'])
    assert.deepEqual(await scanKeys(store, 10), ['a'])
  },

  'forgetting takes the expired and nothing live, however much is written': async ({
    store,
    clock,
  }) => {
    const live = upTo(100).map((i) => `live:${String(i).padStart(3, '0')}`)
    const soon = after(clock(), seconds(1))
    await write(store, ...live.map((key) => ({ key, value: 'x', expiresAt: after(soon, days(1)) })))
    await write(store, ...live.map((key) => ({ key: `dead:${key}`, value: 'x', expiresAt: soon })))
    clock.advance(seconds(1))
    for (const i of upTo(60)) {
      clock.advance(seconds(2))
      await write(
        store,
        ...upTo(10).map((j) => ({ key: `x:${j}`, value: `${i}`, expiresAt: soon })),
      )
    }
    const kept = await scanKeys(store, 30)
    assert.deepEqual(
      kept.filter((key) => key.startsWith('live:')),
      live,
    )
  },
}
