import { describe, expect, test } from 'vitest'
import { answer, type Step } from '../core/store.ts'
import { seconds } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from './fake-clock.ts'
import { type RemoteOptions, remoteStore } from './remote-store.ts'

const clock = fakeClock()

const servers = (options: Partial<RemoteOptions> = {}) => {
  const backend = memory({ clock })
  const server = () => remoteStore(backend, { clock, ...options })
  return { backend, one: server(), other: server() }
}

const increment: Step<number> = (view) => {
  const count = Number(view.read('count')[0] ?? 0) + 1
  return { writes: [{ key: 'count', value: `${count}` }], appends: [], result: count }
}

const put = (key: string, value: string): Step<void> => {
  const writes = [{ key, value }]
  return () => ({ writes, appends: [], result: undefined })
}

/** A chain of links, and the keys it passes. */
const follow: Step<string | undefined> = (view) => {
  const [first] = view.read('first')
  const [second] = view.read(first ?? 'nowhere')
  return answer(second)
}

describe('the round trips of a call', () => {
  const tripsOf = async (store: { trips(): number }, call: () => Promise<unknown>) => {
    const before = store.trips()
    await call()
    return store.trips() - before
  }

  test('are one if what the server remembers is still so, absence included', async () => {
    const { one } = servers()
    for (let i = 0; i < 3; i++) {
      expect(await tripsOf(one, () => one.transact(increment))).toBe(1)
    }
    expect(await tripsOf(one, () => one.transact((view) => answer(view.read('count'))))).toBe(1)
  })

  test('are two if another server has written in between', async () => {
    const { one, other } = servers()
    await one.transact(increment)
    expect(await tripsOf(other, () => other.transact(increment))).toBe(2)
    expect(await tripsOf(one, () => one.transact(increment))).toBe(2)
    expect(await one.transact((view) => answer(view.read('count')))).toEqual(['3'])
  })

  test('are two for a link if the guess names where it leads, and three if it does not', async () => {
    for (const [guess, expected] of [
      [['first', 'target'], 2],
      [[], 3],
    ] as const) {
      const { backend, one } = servers()
      await backend.transact(put('first', 'target'))
      await backend.transact(put('target', 'the end'))
      const trips = await tripsOf(one, async () => {
        expect(await one.transact(follow, guess)).toBe('the end')
      })
      expect(trips).toBe(expected)
    }
  })

  test('are one for a step that only looks at what it guessed, though others have written it', async () => {
    const { one, other } = servers()
    const look: Step<number> = (view) => answer(Number(view.read('count')[0] ?? 0))
    for (let written = 1; written <= 2; written++) {
      await other.transact(increment)
      const trips = await tripsOf(one, async () => {
        expect(await one.transact(look, ['count'], 'look')).toBe(written)
      })
      expect(trips).toBe(1)
    }
    await other.transact(put('first', 'target'))
    await other.transact(put('target', 'the end'))
    expect(await tripsOf(one, () => one.transact(follow, ['first'], 'look'))).toBe(2)
  })

  test('are none for a step that neither reads nor writes, and one for each page', async () => {
    const { one } = servers()
    expect(await tripsOf(one, () => one.transact(() => answer(1)))).toBe(0)
    expect(await tripsOf(one, () => one.read('s', 0, 1))).toBe(1)
    expect(await tripsOf(one, () => one.range('i', '', 1))).toBe(1)
    expect(await tripsOf(one, () => one.scan('', 1))).toBe(1)
    expect(await tripsOf(one, () => one.trim('s', 1))).toBe(1)
  })
})

test('what a step throws over what has changed since is not believed', async () => {
  const { one, other } = servers()
  await one.transact(put('balance', '0'))
  await other.transact(put('balance', '5'))
  const spend: Step<string> = (view) => {
    const [balance = '0'] = view.read('balance')
    if (balance === '0') throw new Error('nothing left')
    return answer(balance)
  }
  expect(await one.transact(spend)).toBe('5')
  await other.transact(put('balance', '0'))
  await expect(one.transact(spend)).rejects.toThrow('nothing left')
})

test('a run that counts has a time after all that it saw', async () => {
  const { one, other } = servers()
  const stamp: Step<boolean> = (view) => {
    const newest = Number(view.read('newest')[0] ?? 0)
    const writes = [{ key: 'newest', value: `${view.now}` }]
    return { writes, appends: [], result: view.now >= newest }
  }
  const calls = Array.from({ length: 100 }, async (_, i) => {
    clock.advance(seconds(1))
    return (i % 2 === 0 ? one : other).transact(stamp)
  })
  expect(await Promise.all(calls)).toEqual(calls.map(() => true))
})

describe('a lost reply', () => {
  test('is an unwell store to the caller, and the commit stays', async () => {
    let losing = true
    const { one } = servers({ losesReply: () => losing })
    await expect(one.transact(increment)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    losing = false
    expect(await one.transact(increment)).toBe(2)
  })

  test('is never one of a call that changed nothing', async () => {
    const { one } = servers({ losesReply: () => true })
    expect(await one.transact((view) => answer(view.read('count')))).toEqual([undefined])
  })
})

test('a server that closes finishes what it accepted, takes nothing more, and leaves the others alone', async () => {
  const { one, other } = servers()
  const accepted = one.transact(increment)
  await one.close()
  expect(await accepted).toBe(1)
  await expect(one.transact(increment)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(await other.transact(increment)).toBe(2)
})
