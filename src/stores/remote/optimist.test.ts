import { describe, expect, test } from 'vitest'
import { memoryServer } from '../../../test/support/memory-backend.ts'
import { answer, type Step } from '../../core/store.ts'
import { type Instant, instant, seconds } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'
import { type GroupSent, type OptimistSettings, optimist } from './optimist.ts'

const increment =
  (key: string): Step<number> =>
  (view) => {
    const count = Number(view.read(key)[0] ?? 0) + 1
    return { writes: [{ key, value: String(count) }], appends: [], result: count }
  }

const setting = (settings: OptimistSettings = {}) => {
  const clock = fakeClock()
  const server = memoryServer(clock)
  const open = () => {
    const backend = server.connect()
    const groups: GroupSent[] = []
    const calls = optimist({
      backend,
      thing: 'the store',
      uptime: clock.uptime,
      onGroup: (group) => groups.push(group),
      ...settings,
    })
    return { ...calls, backend, groups }
  }
  return { clock, server, open }
}

describe('round trips', () => {
  test('the first call asks for the time, every later one whose guess is right takes one trip', async () => {
    const { open } = setting()
    const one = open()
    for (const expected of [1, 2, 3]) {
      expect(await one.transact(increment('a'), ['a'])).toBe(expected)
    }
    expect(one.backend.trips).toEqual({ looks: 1, commits: 3 })
  })

  test('a wrong guess takes a second, over what the first brought back', async () => {
    const { open, server } = setting()
    server.values.set('a', '41')
    const one = open()
    expect(await one.transact(increment('a'), ['a'])).toBe(42)
    expect(one.backend.trips).toEqual({ looks: 1, commits: 2 })
    // It was never seen before: others need not be writing it, and it is not doubted.
    expect(await one.transact(increment('a'), ['a'])).toBe(43)
    expect(one.backend.trips).toEqual({ looks: 1, commits: 3 })
  })

  test('a conflict brings back what was guessed and not read, so that a link costs no third', async () => {
    const { open, server } = setting()
    server.values.set('link', 'b')
    server.values.set('b', '6')
    const one = open()
    const followed: Step<string | undefined> = (view) => {
      const [to = 'nowhere'] = view.read('link')
      const [found] = view.read(to)
      return { writes: [{ key: 'seen', value: String(found) }], appends: [], result: found }
    }
    expect(await one.transact(followed, ['link', 'b'])).toBe('6')
    expect(one.backend.trips.commits).toBe(2)
  })

  test('a call that lost was told what there is, and does not look', async () => {
    const { open } = setting()
    const [one, other] = [open(), open()]
    for (const server of [one, other, one]) await server.transact(increment('a'), ['a'])
    expect(one.backend.trips).toEqual({ looks: 1, commits: 3 })
  })

  test('a key that others write too is looked at first, which takes two instead of losing', async () => {
    const { open } = setting()
    const [one, other] = [open(), open()]
    for (let round = 0; round < 20; round++) {
      await one.transact(increment('a'), ['a'])
      await other.transact(increment('a'), ['a'])
    }
    const lost = one.groups.reduce((sum, { conflicts }) => sum + conflicts, 0)
    expect(lost).toBe(1)
    expect(one.backend.trips.commits).toBe(20 + lost)
  })

  test('calls of one moment share one trip, and see each other in their order', async () => {
    const { open } = setting()
    const one = open()
    const counts = Array.from({ length: 100 }, () => one.transact(increment('a'), ['a']))
    expect(await Promise.all(counts)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(one.backend.trips.commits).toBe(1)
    expect(one.groups).toMatchObject([{ calls: 100, conflicts: 0, writes: 1, appends: 0 }])
  })

  test('a step that only looks takes one if its guess names all, and commits nothing', async () => {
    const { open, server } = setting()
    server.values.set('a', '1')
    const one = open()
    expect(await one.transact((view) => answer(view.read('a')), ['a'], 'look')).toEqual(['1'])
    expect(one.backend.trips).toEqual({ looks: 1, commits: 0 })
  })

  test('looks of one moment share one as well, and those that follow a link one more', async () => {
    const { open, server } = setting()
    server.values.set('a', 'b')
    server.values.set('b', 'found')
    const one = open()
    const follow: Step<unknown> = (view) => answer(view.read(view.read('a')[0] ?? 'nowhere')[0])
    const failing: Step<unknown> = (view) => {
      throw new Error(`on purpose: ${view.read('b')[0]}`)
    }
    const looks = Array.from({ length: 200 }, (_, i) => one.transact(follow, [`k${i}`], 'look'))
    const failed = one.transact(failing, [], 'look')
    await expect(failed).rejects.toThrow('on purpose: found')
    expect(new Set(await Promise.all(looks))).toEqual(new Set(['found']))
    expect(one.backend.trips.looks).toBe(2)
  })

  test('calls that are long together travel apart, and a long one beside short ones harms none', async () => {
    const { open } = setting()
    const one = open()
    const long = 'x'.repeat(300_000)
    const write = (key: string, value: string) =>
      one.transact(() => ({ writes: [{ key, value }], appends: [], result: key }))
    const keys = Array.from({ length: 16 }, (_, i) => `k${i}`)
    expect(await Promise.all(keys.map((key) => write(key, long)))).toEqual(keys)
    expect(one.backend.trips.commits).toBeGreaterThanOrEqual(5)
    await write('longest', 'x'.repeat(1_048_576))
  })

  test('a step that reads and writes nothing takes none beyond the time', async () => {
    const { open } = setting()
    const one = open()
    expect(await one.transact(() => answer('done'))).toBe('done')
    expect(one.backend.trips.commits).toBe(0)
  })
})

describe('what a step is shown', () => {
  test('a time that is no later than the server’s at the commit, and no earlier than any state', async () => {
    const { open, server, clock } = setting()
    const [one, other] = [open(), open()]
    const stamp: Step<Instant> = (view) => {
      const [last] = view.read('stamp')
      expect(view.now).toBeGreaterThanOrEqual(Number(last ?? 0))
      return { writes: [{ key: 'stamp', value: String(view.now) }], appends: [], result: view.now }
    }
    for (let round = 0; round < 50; round++) {
      await (round % 2 === 0 ? one : other).transact(stamp, ['stamp'])
      expect(Number(server.values.get('stamp'))).toBeLessThan(clock() + 1_000)
    }
  })

  test('a decision that waited for longer than a second is made anew', async () => {
    const { open, clock } = setting()
    const one = open()
    await one.transact(increment('a'), ['a'])
    const seen: Instant[] = []
    one.backend.meanwhile = () => {
      one.backend.meanwhile = () => {}
      clock.advance(seconds(2))
    }
    await one.transact((view) => {
      seen.push(view.now)
      return increment('a')(view)
    })
    expect(seen).toHaveLength(2)
    expect(Number(seen[1]) - Number(seen[0])).toBeGreaterThanOrEqual(2_000_000)
  })

  test('a decision whose every trip takes longer than a second arrives all the same', async () => {
    const { open, clock } = setting()
    const one = open()
    one.backend.meanwhile = () => clock.advance(seconds(1.2))
    expect(await one.transact(increment('a'), ['a'])).toBe(1)
    expect(one.backend.trips.commits).toBe(2)
  })

  test('a server whose clock stepped back is believed', async () => {
    const { open, clock } = setting()
    const one = open()
    await one.transact(increment('a'), ['a'])
    clock.set(instant(clock() - 60_000_000))
    const at = await one.transact((view) => ({ ...increment('a')(view), result: view.now }))
    expect(at).toBeLessThan(clock() + 1_000)
  })

  test('what a step throws over a wrong guess is not believed', async () => {
    const { open, server } = setting()
    server.values.set('a', 'there')
    const one = open()
    const found = await one.transact((view) => {
      const [value] = view.read('a')
      if (value === undefined) throw new Error('nothing there')
      return answer(value)
    })
    expect(found).toBe('there')
  })

  test('what it throws over what is so rejects its call, and leaves its neighbours alone', async () => {
    const { open } = setting()
    const one = open()
    const failing = one.transact((view) => {
      view.read('a')
      throw new Error('on purpose')
    })
    const [lost, kept] = await Promise.allSettled([failing, one.transact(increment('a'))])
    expect(lost).toMatchObject({ status: 'rejected', reason: new Error('on purpose') })
    expect(kept).toEqual({ status: 'fulfilled', value: 1 })
  })
})

describe('failures', () => {
  test.each(['before', 'after'] as const)(
    'a request that is cut %s it was served rejects its calls once, and is not sent again',
    async (failure) => {
      const { open, server } = setting()
      const one = open()
      await one.transact(increment('a'), ['a'])
      one.backend.failure = failure
      await expect(one.transact(increment('a'), ['a'])).rejects.toThrow('cut on the way')
      expect(one.backend.trips.commits).toBe(2)
      one.backend.failure = 'none'
      const before = Number(server.values.get('a'))
      expect(before).toBe(failure === 'after' ? 2 : 1)
      expect(await one.transact(increment('a'), ['a'])).toBe(before + 1)
    },
  )

  test('a call that loses for longer than its patience gives up', async () => {
    const { open, server, clock } = setting()
    const one = open()
    let other = 0
    one.backend.meanwhile = () => {
      server.values.set('a', `other ${other++}`)
      clock.advance(seconds(0.5))
    }
    await expect(one.transact(increment('a'), ['a'])).rejects.toMatchObject({
      code: 'STORE_CONTENDED',
    })
    expect(other).toBeLessThan(30)
  })

  test.each([
    ['knows nothing', undefined],
    ['knows what there is', ['a']],
  ])(
    'a call that %s and travels longer than its patience arrives the second time: no other was in its way',
    async (_, known) => {
      const { open, server, clock } = setting()
      const one = open()
      server.values.set('a', '41')
      if (known !== undefined) await one.transact((view) => answer(view.read('a')), known)
      const before = one.backend.trips.commits
      one.backend.meanwhile = () => clock.advance(seconds(7))
      expect(await one.transact(increment('a'), ['a'])).toBe(42)
      expect(one.backend.trips.commits - before).toBe(2)
    },
  )

  test('a call that found no turn within its patience gives up, and is not sent any more', async () => {
    const { open, server, clock } = setting()
    const one = open()
    one.backend.meanwhile = () => clock.advance(seconds(0.9))
    const [changes, looks] = [1, 2].map(() => Array.from({ length: 256 * 20 }, (_, i) => `k${i}`))
    const outcomes = await Promise.allSettled([
      ...(changes ?? []).map((key) => one.transact(increment(key), [key])),
      ...(looks ?? []).map((key) => one.transact((view) => answer(view.read(key)), [key], 'look')),
    ])
    const lost = outcomes.filter(({ status }) => status === 'rejected')
    expect(lost.length).toBeGreaterThan(256 * 20)
    const late = { code: 'STORE_CONTENDED', finding: 'more calls waiting than it answers' }
    for (const outcome of lost) expect(outcome).toMatchObject({ reason: late })
    expect(one.backend.trips.commits + one.backend.trips.looks).toBeLessThan(15)
    expect(server.values.size).toBe(256 * one.backend.trips.commits)
  })

  test('drained waits for all that was accepted', async () => {
    const { open, server } = setting()
    const one = open()
    const calls = Array.from({ length: 600 }, (_, i) => one.transact(increment(`k${i}`)))
    await one.drained()
    expect(server.values.size).toBe(600)
    await Promise.all(calls)
  })
})

test('a server that always comes too late gets its turn after four losses: its keys are kept for it', async () => {
  const { open, server, clock } = setting()
  const far = open()
  const near = server.connect()
  let asked = 0
  // Whenever the far one asks, the near one has just been there, as long as it may.
  far.backend.meanwhile = () => {
    asked += 1
    if (asked > 50) return
    const was = server.values.get('a')
    const part = {
      expected: new Map([['a', was]]),
      guessed: [],
      writes: [{ key: 'a', value: `${asked}` }],
      appends: [],
      claims: false,
    }
    void near.commit([part], { now: clock(), overridden: true, maxAge: seconds(1) })
  }
  await far.transact(increment('a'), ['a'])
  expect(asked).toBeLessThanOrEqual(8)
})
