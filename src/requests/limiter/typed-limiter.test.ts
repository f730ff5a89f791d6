import { describe, expect, expectTypeOf, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { minutes, type Span, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { ACME } from '../acme/formats.ts'
import { limiter } from './typed-limiter.ts'
import type { LimiterEvent } from './verbs.ts'

const world = () => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  return { clock, store: memory({ clock }) }
}

describe('a limiter from plain values', () => {
  test('needs a burst and a period, and says in seconds when to come back', async () => {
    const { store } = world()
    const logins = limiter({ store, limits: { Logins: { burst: 3, period: '1m' } } })
    for (const left of [2, 1, 0]) {
      expect(await logins.spend('Logins', 'ann')).toMatchObject({ allowed: true, remaining: left })
    }
    expect(await logins.spend('Logins', 'ann')).toMatchObject({
      allowed: false,
      reason: 'RATE_LIMIT',
      retryIn: seconds(20),
      retryAfterSeconds: 20,
    })
    expect((await logins.check('Logins', 'bob')).remaining).toBe(2)
  })

  test('knows the names of its limits', () => {
    const { store } = world()
    const gate = limiter({ store, limits: { A: { burst: 1, period: '1s' } } })
    expectTypeOf(gate.spend).toBeCallableWith('A', 'x')
    // @ts-expect-error there is no limit of this name
    void gate.check('B', 'x').catch(() => undefined)
  })

  test('takes lengths as text or as spans, other counts, and costs', async () => {
    const { clock, store } = world()
    const mails = limiter({
      store,
      limits: { Mails: { burst: 10, count: 1, period: minutes(1), onStoreFailure: 'open' } },
    })
    await mails.spend('Mails', 'ann', { cost: 10 })
    clock.advance(minutes(1))
    expect((await mails.spend('Mails', 'ann')).allowed).toBe(true)
    expect((await mails.spend('Mails', 'ann')).retryAfterSeconds).toBe(60)
  })

  test('gives back and fills again', async () => {
    const { store } = world()
    const gate = limiter({ store, limits: { A: { burst: 2, period: '1m' } } })
    await gate.spend('A', 'x', { cost: 2, operationId: 'o1' })
    expect(await gate.refund({ operationId: 'o1' })).toMatchObject({ allowed: true, remaining: 2 })
    await gate.spend('A', 'x', { cost: 2 })
    expect(await gate.reset('A', 'x')).toMatchObject({ remaining: 2 })
  })

  test('charges several limits at once, all or nothing', async () => {
    const { store } = world()
    const limits = { A: { burst: 1, period: '1m' }, B: { burst: 9, period: '1m' } }
    const gate = limiter({ store, limits })
    const both = {
      charges: [
        { limit: 'A', id: 'x' },
        { limit: 'B', id: 'x' },
      ],
    }
    expect((await gate.spend(both)).allowed).toBe(true)
    expect(await gate.spend(both)).toMatchObject({ allowed: false, violated: ['A'] })
    expect((await gate.check('B', 'x')).remaining).toBe(7)
  })

  test('has overrides for single ids', async () => {
    const { store } = world()
    const gate = limiter({
      store,
      limits: { A: { burst: 1, period: '1m' } },
      overrides: { A: { burst: 5, period: '1m', ids: ['root', { id: 'ci', comment: 'builds' }] } },
    })
    expect((await gate.spend('A', 'root')).remaining).toBe(4)
    expect((await gate.spend('A', 'ann')).remaining).toBe(0)
  })

  test('takes the ids of ACME where it is given their vocabulary', async () => {
    const { store } = world()
    const gate = limiter({
      store,
      vocabulary: ACME,
      limits: { Names: { id: 'domain', burst: 1, period: '1m' } },
    })
    expect((await gate.spend('Names', 'EXAMPLE.com')).charges[0]?.id).toBe('example.com')
  })
})

describe('waiting', () => {
  const slow = () => {
    const { clock, store } = world()
    const slept: Span[] = []
    const gate = limiter({
      store,
      limits: { A: { burst: 1, period: '1s' } },
      sleep: async (length) => {
        slept.push(length)
        clock.advance(length)
      },
    })
    return { gate, slept }
  }

  test('spends at once if it can, and else as soon as it can', async () => {
    const { gate, slept } = slow()
    expect((await gate.wait('A', 'x', { atMost: '2s' })).allowed).toBe(true)
    expect((await gate.wait('A', 'x', { atMost: '2s' })).allowed).toBe(true)
    expect(slept).toEqual([seconds(1)])
  })

  test('is refused at once if it would be too long', async () => {
    const { gate, slept } = slow()
    await gate.spend('A', 'x')
    const answer = await gate.wait('A', 'x', { atMost: '999ms' })
    expect(answer).toMatchObject({ allowed: false, retryAfterSeconds: 1 })
    expect(slept).toEqual([])
  })

  test('goes on while others are quicker, until its time is up', async () => {
    const { clock, store } = world()
    const limits = { A: { burst: 1, period: '1s' } }
    const rival = limiter({ store, limits })
    const gate = limiter({
      store,
      limits,
      sleep: async (length) => {
        clock.advance(length)
        await rival.spend('A', 'x')
      },
    })
    await rival.spend('A', 'x')
    expect((await gate.wait('A', 'x', { atMost: '3s' })).allowed).toBe(false)
  })
})

describe('a shadow limit', () => {
  test('is decided, charged and told, and refuses nothing', async () => {
    const { store } = world()
    const told: LimiterEvent[] = []
    const gate = limiter({
      store,
      limits: { New: { burst: 1, period: '1m', shadow: true }, Old: { burst: 5, period: '1m' } },
      observe: (event) => told.push(event),
    })
    expect((await gate.spend('New', 'x')).charges[0]).toMatchObject({ allowed: true, shadow: true })
    const second = await gate.spend('New', 'x')
    expect(second).toMatchObject({ allowed: true, violated: [] })
    expect(second.charges[0]).toMatchObject({ allowed: false, reason: 'RATE_LIMIT', shadow: true })
    const batch = await gate.spend({
      charges: [
        { limit: 'New', id: 'x' },
        { limit: 'Old', id: 'x' },
      ],
    })
    expect(batch).toMatchObject({ allowed: true, remaining: 4 })
    expect(told).toHaveLength(3)
  })

  test('is not charged where another limit refuses', async () => {
    const { store } = world()
    const gate = limiter({
      store,
      limits: { New: { burst: 5, period: '1m', shadow: true }, Old: { burst: 1, period: '1m' } },
    })
    const both = {
      charges: [
        { limit: 'New', id: 'x' },
        { limit: 'Old', id: 'x' },
      ],
    }
    await gate.spend(both)
    expect((await gate.spend(both)).allowed).toBe(false)
    expect((await gate.check('New', 'x')).charges[0]?.remaining).toBe(3)
  })
})

describe('a slip in the limits', () => {
  const { store } = world()
  test.each<[string, object, string, string]>([
    ['a misspelt field', { A: { brust: 1, period: '1s' } }, 'FIELD_UNKNOWN', 'did you mean burst?'],
    ['no rate', { A: {} }, 'FIELD_MISSING', 'must hold burst and period, or atOnce and heldFor'],
    ['half a rate', { A: { burst: 1 } }, 'FIELD_MISSING', 'must hold period'],
    ['a burst of 0', { A: { burst: 0, period: '1s' } }, 'FIELD_VALUE', 'at least 1, found 0'],
    ['a length without a unit', { A: { burst: 1, period: '60' } }, 'FIELD_VALUE', 'with its unit'],
    ['a number for a limit', { A: 3 }, 'FIELD_TYPE', 'A: must be a map, found 3'],
    [
      'an id of ACME',
      { A: { id: 'domain', burst: 1, period: '1s' } },
      'FIELD_VALUE',
      'one of client, ip',
    ],
    ['a name with a space', { 'a b': { burst: 1, period: '1s' } }, 'LIMIT_NAME_INVALID', 'letter'],
  ])('%s is told before anything is limited', (_, limits, code, words) => {
    // As a program in JavaScript would: the types above would not let it pass.
    const options: { store: typeof store; limits: never } = JSON.parse(JSON.stringify({ limits }))
    const mistake = mistakeOf(() => limiter({ ...options, store }))
    expect(mistake.code).toBe(code)
    expect(mistake.message).toContain(words)
  })
})
