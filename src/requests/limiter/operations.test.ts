import { describe, expect, test } from 'vitest'
import { PARTITIONS } from '../../../test/support/partitions.ts'
import { MAX_SHARD_LENGTH } from '../../core/shards.ts'
import type { Store } from '../../core/store.ts'
import { instant, minutes, seconds, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { MAX_CHARGES } from './charge.ts'
import { decodeTold, encodeTold, operationNames, type Told } from './operations.ts'
import { limiter } from './typed-limiter.ts'

/** A store that says how much it was given to keep. */
const measured = (inner: Store) => {
  const lengths = new Map<string, number>()
  const transact: Store['transact'] = (step, guess, intent) =>
    inner.transact(
      (view) => {
        const commit = step(view)
        for (const { key, value } of commit.writes) {
          if (value === undefined) lengths.delete(key)
          else lengths.set(key, key.length + value.length)
        }
        return commit
      },
      guess,
      intent,
    )
  const total = (...rooms: readonly string[]) =>
    [...lengths].reduce(
      (sum, [key, length]) => (rooms.some((room) => key.startsWith(room)) ? sum + length : sum),
      0,
    )
  return { store: { ...inner, transact }, total }
}

describe.each(PARTITIONS)('over %s', (_, over) => {
  /** As many charges as fit, with ids as long as they may be, and twice that in JSON. */
  const large = (n: number, count = MAX_CHARGES) => ({
    operationId: `large-${n}`,
    charges: Array.from({ length: count }, (_, i) => ({
      limit: 'Hits',
      id: `${n}-${i}-`.padEnd(512, '"'),
    })),
  })

  test('a spend of 256 charges with the longest ids is kept, repeated and given back', async () => {
    const store = over(memory({ clock: fakeClock() }))
    const hits = limiter({ store, limits: { Hits: { burst: 2, period: '1h' } } })
    const ask = large(1)
    const first = await hits.spend(ask)
    expect(first).toMatchObject({ allowed: true, remaining: 1 })
    expect(await hits.spend(ask)).toEqual({ ...first, replayed: true })
    expect(await hits.refund({ operationId: 'large-1' })).toMatchObject({ remaining: 2 })
  })

  test('a million characters of answers are forgotten but for what a shard may hold', async () => {
    const { store, total } = measured(over(memory({ clock: fakeClock() })))
    const limits = { Hits: { burst: 2, period: '1h' } } as const
    const hits = limiter({ store, limits, operations: { perScope: 64 } })
    for (let n = 0; n < 256; n++) await hits.spend(large(n, 8))
    expect(256 * 8 * 512).toBeGreaterThan(1_000_000)
    // The list itself comes on top of what it lists.
    expect(total('operations/', 'legs/')).toBeLessThan(MAX_SHARD_LENGTH + 64 * 60)
    expect(await hits.spend(large(255, 8))).toMatchObject({ replayed: true })
    expect((await hits.spend(large(1, 8))).replayed).toBeUndefined()
  })

  test('the newest stays, however large it is', async () => {
    const { store, total } = measured(over(memory({ clock: fakeClock() })))
    const limits = { Hits: { burst: 2, period: '1h' } } as const
    const hits = limiter({ store, limits, operations: { perScope: 64 } })
    for (const n of [1, 2]) await hits.spend(large(n))
    expect(total('operations/')).toBeGreaterThan(MAX_SHARD_LENGTH)
    expect(await hits.spend(large(2))).toMatchObject({ replayed: true })
  })

  test('an answer is told again under the labels of today, with the numbers of its day', async () => {
    const clock = fakeClock()
    const store = over(memory({ clock }))
    const before = limiter({ store, limits: { Hits: { burst: 9, period: '1h' } } })
    const after = limiter({ store, limits: { Hits: { burst: 5, period: '1h' } } })
    const ask = { limit: 'Hits', id: 'ann', operationId: 'a', cost: 3 }
    await before.spend(ask)
    expect(await after.spend(ask)).toMatchObject({
      allowed: true,
      remaining: 6,
      replayed: true,
      charges: [{ cost: 3, remaining: 6, policy: { burst: 5 } }],
    })
  })

  test('a replay is dated if it asks to be, though the first call did not', async () => {
    const store = over(memory({ clock: fakeClock() }))
    const hits = limiter({ store, limits: { Hits: { burst: 9, period: '1h' } } })
    const ask = { limit: 'Hits', id: 'ann', operationId: 'a' }
    expect((await hits.spend(ask)).charges[0]?.date).toBeUndefined()
    const { charges, replayed } = await hits.spend({ ...ask, dated: true })
    expect(replayed).toBe(true)
    expect(charges[0]?.date).toBeDefined()
  })
})

test('scope and id are told apart, whatever they hold', () => {
  const policy = { rememberFor: minutes(1), perScope: 10 }
  const names = [
    operationNames('spend', 'spend/x', 'a', policy),
    operationNames('spend', 'x', 'a/spend', policy),
    operationNames('refund', 'x', 'a/spend', policy),
    operationNames('spend', 'x"],["a', 'a', policy),
  ]
  expect(new Set(names.map(({ key }) => key)).size).toBe(names.length)
})

test('what is kept is read as it was written: refusals, waits without end, dates, subjects', () => {
  const date = { at: instant(3), since: instant(2), interval: span(1) }
  const waits = { retryIn: seconds(1), resetIn: seconds(2) }
  const told: readonly Told[] = [
    {
      asked: { limit: 'A', id: 'x y', subjects: ['did:key:z'] },
      cost: 2,
      mode: 'spend',
      decision: { allowed: true, remaining: 3, ...waits },
      date,
      left: 2,
    },
    {
      asked: { limit: 'B', id: '"[,' },
      cost: 9,
      mode: 'try',
      decision: { allowed: false, reason: 'RATE_LIMIT', remaining: 0, ...waits, retryIn: 'never' },
      date: undefined,
      left: undefined,
    },
    {
      asked: { limit: 'C', id: '' },
      cost: 1,
      mode: 'check',
      decision: undefined,
      date: undefined,
      left: undefined,
    },
  ]
  expect(decodeTold(encodeTold(told))).toEqual(told)
})
