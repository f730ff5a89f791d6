import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { times } from '../../../test/support/counts.ts'
import { everything } from '../../../test/support/everything.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { type Clock, days, millis, seconds, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock, pretendedCluster, restlessStore } from '../../testing/index.ts'
import type { AcquireOptions } from './places.ts'
import { limiter } from './typed-limiter.ts'
import { createLimiter, type LimiterEvent } from './verbs.ts'

const LIMITS = `
Jobs: { id: opaque, atOnce: 2, heldFor: 30s }
Crowd: { id: opaque, atOnce: 100, heldFor: 30s }
Logins: { id: opaque, burst: 3, period: 1m }
`

const gate = () => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  const store = restlessStore(memory({ clock }), () => 0.4)
  const catalog = acmeCatalog({ limits: LIMITS })
  return { clock, store, limiter: createLimiter({ store, catalog: () => catalog }) }
}

describe('a limit on how many run at once', () => {
  test('gives as many places as it has, and says when the next is free at the latest', async () => {
    const { clock, limiter } = gate()
    const first = await limiter.acquire('Jobs', 'ann')
    expect(first).toMatchObject({ allowed: true, remaining: 1, retryIn: 0 })
    expect(first.place?.expiresAt).toBe(clock() + seconds(30))
    clock.advance(seconds(10))
    expect(await limiter.acquire('Jobs', 'ann')).toMatchObject({ allowed: true, remaining: 0 })
    expect(await limiter.acquire('Jobs', 'ann')).toEqual({
      allowed: false,
      reason: 'ALL_TAKEN',
      remaining: 0,
      retryIn: seconds(20),
    })
  })

  test('counts each id for itself', async () => {
    const { limiter } = gate()
    for (const id of ['ann', 'ann', 'bob']) {
      expect((await limiter.acquire('Jobs', id)).allowed).toBe(true)
    }
  })

  test('has a place again when one is released, once', async () => {
    const { limiter } = gate()
    const { place } = await limiter.acquire('Jobs', 'ann')
    await limiter.acquire('Jobs', 'ann')
    expect(await limiter.release(place?.id ?? '')).toBe(true)
    expect(await limiter.release(place?.id ?? '')).toBe(false)
    expect((await limiter.acquire('Jobs', 'ann')).allowed).toBe(true)
    expect((await limiter.acquire('Jobs', 'ann')).allowed).toBe(false)
  })

  test('has a place again when its holder never came back', async () => {
    const { clock, limiter } = gate()
    const { place } = await limiter.acquire('Jobs', 'ann')
    await limiter.acquire('Jobs', 'ann')
    clock.advance(seconds(30))
    expect(await limiter.release(place?.id ?? '')).toBe(false)
    expect(await limiter.acquire('Jobs', 'ann')).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('leaves nothing behind once all places are released', async () => {
    const { limiter, store } = gate()
    const places = await Promise.all([limiter.acquire('Jobs', 'a'), limiter.acquire('Jobs', 'a')])
    for (const { place } of places) await limiter.release(place?.id ?? '')
    expect(await everything(store)).toEqual([])
  })

  test('may be asked for a shorter or longer hold', async () => {
    const { clock, limiter } = gate()
    await limiter.acquire('Jobs', 'ann', { heldFor: '1s' })
    await limiter.acquire('Jobs', 'ann', { heldFor: seconds(90) })
    clock.advance(seconds(1))
    expect((await limiter.acquire('Jobs', 'ann')).allowed).toBe(true)
    expect((await limiter.acquire('Jobs', 'ann')).allowed).toBe(false)
  })
})

describe('an operation id', () => {
  test('gets the place that it has, and no second one', async () => {
    const { limiter } = gate()
    const once = await limiter.acquire('Jobs', 'ann', { operationId: 'job-7' })
    const again = await limiter.acquire('Jobs', 'ann', { operationId: 'job-7' })
    expect(again).toEqual({ ...once, replayed: true })
    expect(await limiter.release('job-7')).toBe(true)
  })

  test('of another caller is another place', async () => {
    const { limiter } = gate()
    const ask = { limit: 'Jobs', id: 'ann', operationId: 'job-7' }
    await limiter.acquire(ask, { scope: 'a' })
    expect(await limiter.release('job-7', { scope: 'b' })).toBe(false)
    const other = await limiter.acquire(ask, { scope: 'b' })
    expect(other).toMatchObject({ allowed: true, remaining: 0 })
    expect(other.replayed).toBeUndefined()
  })

  test('cannot hold places under two limits', async () => {
    const { clock, limiter } = gate()
    await limiter.acquire('Jobs', 'ann', { operationId: 'job-7' })
    const taken = limiter.acquire('Crowd', 'ann', { operationId: 'job-7' })
    expect((await mistakeOfPromise(taken)).code).toBe('OPERATION_ID_REUSED')
    // Once its time is over the id is free again, though the store still shows who held it.
    clock.advance(seconds(30))
    const elsewhere = await limiter.acquire('Crowd', 'ann', { operationId: 'job-7' })
    expect(elsewhere).toMatchObject({ allowed: true, remaining: 99 })
  })
})

test('in any history of acquiring, releasing and waiting, never more are inside than fit', async () => {
  const { clock, limiter } = gate()
  const inside = new Map<string, number>()
  let seed = 7
  const chance = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  for (let i = 0; i < 3_000; i++) {
    for (const [id, end] of inside) if (end <= clock()) inside.delete(id)
    const turn = chance(10)
    if (turn < 6) {
      const { place } = await limiter.acquire('Crowd', 'x', { heldFor: millis(1 + chance(400)) })
      if (place !== undefined) inside.set(place.id, place.expiresAt)
      else expect(inside.size).toBe(100)
    } else if (turn < 8) {
      const [id] = [...inside.keys()].slice(chance(Math.max(1, inside.size)))
      if (id !== undefined) {
        expect(await limiter.release(id)).toBe(true)
        inside.delete(id)
      }
    } else clock.advance(millis(chance(3)))
    expect(inside.size).toBeLessThanOrEqual(100)
  }
})

/** So many keys that a sweep takes long: what has expired is still there when the clock steps back. */
const crowd = (store: Store) =>
  store.transact(() => ({
    writes: Array.from({ length: 200 }, (_, i) => ({ key: `requests/{crowd}/${i}`, value: '' })),
    appends: [],
    result: undefined,
  }))

describe('where the clock steps back', () => {
  test('one whose time had run out does not give away the place that another took since', async () => {
    const { clock, limiter, store } = gate()
    await crowd(store)
    const late = await limiter.acquire('Jobs', 'x')
    clock.advance(seconds(40))
    await limiter.acquire('Jobs', 'x')
    clock.advance(span(-seconds(40)))
    // It ends when the first did.
    await limiter.acquire('Jobs', 'x')
    expect(await limiter.release(late.place?.id ?? '')).toBe(false)
    expect((await limiter.acquire('Jobs', 'x')).allowed).toBe(false)
  })

  test('an operation id whose place had ended gets another, if there is one', async () => {
    const { clock, limiter, store } = gate()
    await crowd(store)
    await limiter.acquire('Jobs', 'x', { operationId: 'late' })
    clock.advance(seconds(40))
    for (const operationId of ['a', 'b']) await limiter.acquire('Jobs', 'x', { operationId })
    clock.advance(span(-seconds(40)))
    expect(await limiter.acquire('Jobs', 'x', { operationId: 'late' })).toMatchObject({
      allowed: false,
    })
    expect(await limiter.acquire('Jobs', 'x', { operationId: 'b' })).toMatchObject({
      allowed: true,
      replayed: true,
    })
  })

  test('an old holder gets no place by a new one of the same name at the same time', async () => {
    const { clock, limiter, store } = gate()
    await crowd(store)
    const acquire = (operationId: string) => limiter.acquire('Jobs', 'x', { operationId })
    for (const name of ['a', 'b']) await acquire(name)
    clock.advance(seconds(40))
    await acquire('c')
    await limiter.release('c')
    clock.advance(span(-seconds(40)))
    for (const name of ['a', 'd']) expect((await acquire(name)).allowed).toBe(true)
    expect((await acquire('b')).allowed).toBe(false)
  })

  test('places come back all the same', async () => {
    const { clock, limiter } = gate()
    clock.advance(days(365))
    await limiter.acquire('Jobs', 'x')
    clock.advance(span(-days(365)))
    for (let i = 0; i < 3; i++) {
      expect((await limiter.acquire('Jobs', 'x')).allowed).toBe(true)
      expect((await limiter.acquire('Jobs', 'x')).allowed).toBe(false)
      clock.advance(seconds(30))
    }
  })
})

const STORES = {
  memory: (clock: Clock) => memory({ clock }),
  'a cluster': (clock: Clock) => pretendedCluster(memory({ clock })),
  sqlite: (clock: Clock) => sqlite({ path: join(temporaryFolder(), 'places.db'), clock }),
}

describe.each(Object.entries(STORES))(
  'on %s, with a clock that steps back and forth',
  (_, open) => {
    const turn = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('acquire' as const), n: fc.nat(3) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), n: fc.nat(3) }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('step' as const),
          n: fc.integer({ min: -4, max: 4 }),
        }),
      },
    )

    test('never more are inside than fit, and all places come back', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 12, maxLength: 40 }), async (turns) => {
          const clock = fakeClock('2024-01-01T00:00:00Z')
          const store = open(clock)
          await crowd(store)
          const gate = limiter({ store, limits: { Jobs: { atOnce: 2, heldFor: '3s' } } })
          // By the time that the holders saw: one whose time once ran out is outside for good.
          const inside = new Map<string, number>()
          for (const { kind, n } of turns) {
            if (kind === 'step') clock.advance(span(n * seconds(1)))
            for (const [id, end] of inside) if (end <= clock()) inside.delete(id)
            if (kind === 'acquire') {
              const { place } = await gate.acquire('Jobs', 'x', { operationId: `job-${n}` })
              if (place !== undefined) inside.set(place.id, place.expiresAt)
            }
            if (kind === 'release' && (await gate.release(`job-${n}`))) inside.delete(`job-${n}`)
            expect(inside.size).toBeLessThanOrEqual(2)
          }
          clock.advance(seconds(4 * 40 + 3))
          for (const operationId of ['new-1', 'new-2']) {
            expect((await gate.acquire('Jobs', 'x', { operationId })).allowed).toBe(true)
          }
          await store.close()
        }),
        { numRuns: times(60, 2_000) },
      )
    })
  },
)

test('placesLeft answers as acquire would, and takes nothing', async () => {
  const { limiter, store } = gate()
  const { place } = await limiter.acquire('Jobs', 'ann')
  expect(await limiter.placesLeft('Jobs', 'ann')).toEqual({
    allowed: true,
    remaining: 1,
    retryIn: 0,
  })
  await limiter.acquire('Jobs', 'ann')
  expect(await limiter.placesLeft('Jobs', 'ann')).toMatchObject({
    allowed: false,
    reason: 'ALL_TAKEN',
    remaining: 0,
  })
  await limiter.release(place?.id ?? '')
  expect((await limiter.placesLeft('Jobs', 'ann')).remaining).toBe(1)
  expect(await everything(store)).toHaveLength(2)
})

describe('while the store is down', () => {
  const down = (onStoreFailure: 'open' | 'closed') => {
    const store = memory()
    const events: LimiterEvent[] = []
    const observe = (event: LimiterEvent) => void events.push(event)
    const transact = async () => {
      throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'it', rule: 'is down' })
    }
    const limits = { Jobs: { atOnce: 2, heldFor: '30s', onStoreFailure } } as const
    return { events, gate: limiter({ store: { ...store, transact }, limits, observe }) }
  }

  test('no one enters', async () => {
    const { gate, events } = down('closed')
    await expect(gate.acquire('Jobs', 'x')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(events).toMatchObject([{ kind: 'store-failure', open: false }])
  })

  test('all enter without a place, where the limit says so', async () => {
    const { gate, events } = down('open')
    expect(await gate.acquire('Jobs', 'x')).toEqual({
      allowed: true,
      reason: 'STORE_UNAVAILABLE',
      remaining: Number.POSITIVE_INFINITY,
      retryIn: 0,
    })
    expect(events).toMatchObject([
      { kind: 'store-failure', open: true },
      { kind: 'place', verb: 'acquire', limit: 'Jobs' },
    ])
  })
})

describe('mistakes', () => {
  test('a rate has no places, and places cannot be spent', async () => {
    const { limiter } = gate()
    expect((await mistakeOfPromise(limiter.acquire('Logins', 'ann'))).code).toBe('LIMIT_KIND')
    expect((await mistakeOfPromise(limiter.spend('Jobs', 'ann'))).code).toBe('LIMIT_KIND')
  })

  test.each(['0s', '-1s', '90000h', Number.POSITIVE_INFINITY, 0.5])(
    'a place is not held for %s',
    async (heldFor) => {
      const { limiter } = gate()
      // As a program in JavaScript could.
      const options: AcquireOptions = JSON.parse('{}')
      Object.assign(options, { heldFor })
      expect((await mistakeOfPromise(limiter.acquire('Jobs', 'ann', options))).code).toBe(
        'DURATION_INVALID',
      )
    },
  )

  test('scopes never meet, whatever they hold', async () => {
    const { limiter } = gate()
    await limiter.acquire({ limit: 'Jobs', id: 'ann', operationId: 'b/c' }, { scope: 'a' })
    expect(await limiter.release('c', { scope: 'a/b' })).toBe(false)
    await limiter.spend({ limit: 'Logins', id: 'x', operationId: 'spend/c' }, { scope: 'a' })
    const other = { limit: 'Logins', id: 'x', operationId: 'c' }
    expect((await limiter.spend(other, { scope: 'a/spend' })).replayed).toBeUndefined()
  })

  test('a length of time has its unit', async () => {
    const { limiter } = gate()
    const asked = limiter.acquire('Jobs', 'ann', { heldFor: '30' })
    expect((await mistakeOfPromise(asked)).code).toBe('DURATION_INVALID')
  })

  test.each([
    ['Jobs: {id: opaque, atOnce: 2}', 'FIELD_MISSING'],
    ['Jobs: {id: opaque, heldFor: 1s}', 'FIELD_MISSING'],
    ['Jobs: {id: opaque, atOnce: 0, heldFor: 1s}', 'FIELD_VALUE'],
    ['Jobs: {id: opaque, atOnce: 2, heldFor: 1s, burst: 3, period: 1s}', 'FIELD_VALUE'],
    ['Jobs: {id: opaque, atOnce: 2, heldFor: 1s, shadow: true}', 'FIELD_VALUE'],
  ])('%s is refused', (limits, code) => {
    expect(() => acmeCatalog({ limits })).toThrow(expect.objectContaining({ code }))
  })
})
