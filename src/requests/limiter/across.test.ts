/** Batches whose buckets lie in several partitions, step by step: what is lost is chosen by the test. */
import { describe, expect, test } from 'vitest'
import { StoreError } from '../../core/errors.ts'
import type { Key, Store } from '../../core/store.ts'
import { days, minutes, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, pretendedCluster } from '../../testing/index.ts'
import { limiter } from './typed-limiter.ts'

const LIMITS = {
  Hits: { burst: 5, period: '1h' },
  Pages: { burst: 5, period: '1h' },
} as const

type Fate = 'well' | 'lost call' | 'lost reply'

/** One store for all, and servers that fail where a test says so. */
const cluster = () => {
  const clock = fakeClock()
  const inner = pretendedCluster(memory({ clock }))
  const server = (fate: (guess: readonly Key[], intent?: string) => Fate = () => 'well') => {
    const transact: Store['transact'] = async (step, guess = [], intent) => {
      const became = fate(guess, intent)
      if (became === 'lost call') throw down()
      const result = await inner.transact(step, guess, intent)
      if (became === 'lost reply') throw down()
      return result
    }
    return limiter({ store: { ...inner, transact }, limits: LIMITS, operations: { perScope: 2 } })
  }
  const left = async (id: string) =>
    (await server().check({ limit: 'Hits', id, cost: 0 })).remaining
  return { clock, inner, server, left }
}

const down = () =>
  new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })

const on = (...ids: readonly string[]) => ids.map((id) => ({ limit: 'Hits', id }))

/** Loses the calls that spend from one bucket, not those that look at it. */
const lose =
  (id: string, how: Fate = 'lost call') =>
  (guess: readonly Key[], intent?: string): Fate =>
    intent !== 'look' && guess.includes(`requests/{${id}}/Hits`) ? how : 'well'

/** Ends when it would charge bob: from then on nothing of it arrives. */
const dying = () => {
  let isDead = false
  return (guess: readonly Key[], intent?: string): Fate => {
    isDead ||= lose('bob')(guess, intent) !== 'well'
    return isDead ? 'lost call' : 'well'
  }
}

describe('a batch across partitions', () => {
  test('answers as one transaction would, in the order of its charges', async () => {
    const { server } = cluster()
    const charges = [...on('ann'), { limit: 'Pages', id: 'ann', cost: 2 }, ...on('bob')]
    const alone = limiter({ store: memory({ clock: fakeClock() }), limits: LIMITS })
    expect(await server().spend({ charges })).toEqual(await alone.spend({ charges }))
    expect(await server().check({ charges })).toEqual(await alone.check({ charges }))
    const beyond = [{ limit: 'Hits', id: 'bob', cost: 5 }, ...on('cid'), ...on('ann')]
    expect(await server().spend({ charges: beyond })).toEqual(
      await alone.spend({ charges: beyond }),
    )
    expect(await server().refund({ charges })).toEqual(await alone.refund({ charges }))
    expect(await server().reset({ charges })).toEqual(await alone.reset({ charges }))
  })

  test('charges nothing where one of its buckets is empty', async () => {
    const { server, left } = cluster()
    await server().spend({ limit: 'Hits', id: 'bob', cost: 5 })
    const answer = await server().spend({ charges: on('ann', 'bob') })
    expect(answer).toMatchObject({ allowed: false, violated: ['Hits'] })
    expect(await left('ann')).toBe(5)
  })

  test('charges a try only where the batch is allowed, and is not refused by it', async () => {
    const { server, left } = cluster()
    await server().spend({ limit: 'Hits', id: 'bob', cost: 5 })
    const tried = [...on('ann'), { limit: 'Hits', id: 'bob', mode: 'try' as const }]
    expect((await server().spend({ charges: tried })).charges).toMatchObject([
      { allowed: true },
      { allowed: false },
    ])
    const refused = [...on('bob'), { limit: 'Hits', id: 'ann', mode: 'try' as const }]
    await server().spend({ charges: refused, operationId: 'a' })
    expect(await left('ann')).toBe(4)
  })

  test('names each bucket once, and nothing is charged before that is told', async () => {
    const { server, left } = cluster()
    const twice = { charges: on('ann', 'bob', 'bob'), operationId: 'a' }
    await expect(server().spend(twice)).rejects.toMatchObject({ code: 'BUCKET_TWICE' })
    await expect(server().refund({ charges: twice.charges })).rejects.toThrow()
    expect(await left('ann')).toBe(5)
    expect(await server().spend({ charges: on('ann'), operationId: 'a' })).toMatchObject({
      allowed: true,
    })
  })

  test('of which a leg fails gives back the others', async () => {
    const { server, left } = cluster()
    const broken = server(lose('bob'))
    await expect(broken.spend({ charges: on('ann', 'bob') })).rejects.toThrow('must answer')
    expect(await left('ann')).toBe(5)
  })
})

describe('an operation across partitions', () => {
  const both = { charges: on('ann', 'bob'), operationId: 'a' }

  test('is charged once, though the reply of a leg was lost', async () => {
    const { server, left } = cluster()
    await expect(server(lose('bob', 'lost reply')).spend(both)).rejects.toThrow('must answer')
    const again = await server().spend(both)
    expect(again).toMatchObject({ allowed: true })
    expect([await left('ann'), await left('bob')]).toEqual([4, 4])
    expect(await server().spend(both)).toEqual({ ...again, replayed: true })
  })

  test('that a crash left half done is completed by a retry', async () => {
    const { server, left } = cluster()
    await expect(server(dying()).spend(both)).rejects.toThrow('must answer')
    expect([await left('ann'), await left('bob')]).toEqual([4, 5])
    expect(await server().spend(both)).toMatchObject({ allowed: true })
    expect([await left('ann'), await left('bob')]).toEqual([4, 4])
  })

  test('that a crash left half done is given back by a retry that is refused', async () => {
    const { server, left } = cluster()
    await expect(server(dying()).spend(both)).rejects.toThrow('must answer')
    await server().spend({ limit: 'Hits', id: 'bob', cost: 5 })
    expect(await server().spend(both)).toMatchObject({ allowed: false })
    expect(await left('ann')).toBe(5)
  })

  test('takes no other question after a crash, until its memory ends', async () => {
    const { server, clock } = cluster()
    await expect(server(dying()).spend(both)).rejects.toThrow('must answer')
    const other = { charges: on('cid'), operationId: 'a' }
    await expect(server().spend(other)).rejects.toMatchObject({ code: 'OPERATION_ID_REUSED' })
    clock.advance(days(1))
    expect(await server().spend(other)).toMatchObject({ allowed: true })
  })

  test('that was refused leaves its id free for another question', async () => {
    const { server } = cluster()
    await server().spend({ limit: 'Hits', id: 'bob', cost: 5 })
    expect((await server().spend(both)).allowed).toBe(false)
    const other = { charges: on('cid'), operationId: 'a' }
    expect(await server().spend(other)).toMatchObject({ allowed: true })
    await expect(server().spend(both)).rejects.toMatchObject({ code: 'OPERATION_ID_REUSED' })
  })

  test('gives back after a failure what time has not given back', async () => {
    const { server, clock, left } = cluster()
    await server().spend({ limit: 'Hits', id: 'ann', cost: 4 })
    const slow = server((guess, intent) => {
      if (lose('bob')(guess, intent) === 'well') return 'well'
      clock.advance(minutes(12))
      return 'lost call'
    })
    // An empty bucket has one token after twelve minutes, whoever charged it.
    await expect(slow.spend(both)).rejects.toThrow('must answer')
    expect(await left('ann')).toBe(2)
  })

  test('that is slow has lost its right to charge', async () => {
    const { server, clock, left } = cluster()
    const slow = server((guess, intent) => {
      if (intent === 'look' && guess.includes('requests/{bob}/Hits')) clock.advance(seconds(31))
      return 'well'
    })
    await expect(slow.spend(both)).rejects.toMatchObject({ code: 'STORE_CONTENDED' })
    expect([await left('ann'), await left('bob')]).toEqual([5, 5])
    expect(await server().spend(both)).toMatchObject({ allowed: true })
  })

  test('pushes the oldest out of its shard, with its legs', async () => {
    const { server, inner } = cluster()
    const spend = (operationId: string) =>
      server().spend({ charges: on('ann', 'bob'), operationId })
    for (const id of ['a', 'b', 'c']) await spend(id)
    const { items } = await inner.scan('', 100)
    expect(items.filter(({ key }) => key.startsWith('legs/'))).toHaveLength(4)
    expect((await spend('b')).replayed).toBe(true)
    expect((await spend('a')).replayed).toBeUndefined()
  })

  test('is given back by its bare id, once, also by a retry after half of it', async () => {
    const { server, left } = cluster()
    await server().spend(both)
    await expect(server(lose('bob')).refund({ operationId: 'a' })).rejects.toThrow('must answer')
    expect([await left('ann'), await left('bob')]).toEqual([5, 4])
    const back = await server().refund({ operationId: 'a' })
    expect(back).toMatchObject({ allowed: true, charges: [{ id: 'ann' }, { id: 'bob' }] })
    expect([await left('ann'), await left('bob')]).toEqual([5, 5])
    await server().spend({ charges: on('ann') })
    expect(await server().refund({ operationId: 'a' })).toMatchObject({ replayed: true })
    expect(await left('ann')).toBe(4)
  })

  test('asked for by fifty servers at once is charged once', async () => {
    const { server, left } = cluster()
    const calls = Array.from({ length: 50 }, () => server().spend(both))
    const answers = await Promise.allSettled(calls)
    const answered = answers.filter(({ status }) => status === 'fulfilled')
    expect(answered.length).toBeGreaterThan(0)
    expect([await left('ann'), await left('bob')]).toEqual([4, 4])
  })
})
