/** What comes back of a charge, over the limiter's own verbs: never more than it took. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { PARTITIONS } from '../../../test/support/partitions.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Clock } from '../../core/time.ts'
import { hours, millis, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { limiter, type RateOptions } from './typed-limiter.ts'

describe.each(PARTITIONS)('over %s', (_, over) => {
  /** Servers on one store, each with a limit of its own. */
  const servers = (clock: Clock, ...rates: readonly RateOptions[]) => {
    const store = over(memory({ clock }))
    return rates.map((Orders) => limiter({ store, limits: { Orders } }))
  }

  const server = (clock: Clock, rate: RateOptions) => {
    const [only] = servers(clock, rate)
    if (only === undefined) throw new Error('one server')
    return only
  }

  const spendAs = (operationId: string, cost: number) => ({ operationId, cost })

  describe('a refund by operation id', () => {
    test('gives nothing back in the tokens of a limit that has changed: 600 to 300 in three hours', async () => {
      const [before, after] = servers(
        fakeClock(),
        { burst: 600, period: '3h' },
        { burst: 300, period: '3h' },
      )
      await before?.spend('Orders', 'ann', spendAs('A', 300))
      await before?.spend('Orders', 'ann', spendAs('B', 300))
      const refunded = await after?.refund({ operationId: 'A' })
      expect(refunded).toMatchObject({ allowed: false, reason: 'NOTHING_TO_RETURN', remaining: 0 })
      expect(await after?.check('Orders', 'ann')).toMatchObject({ allowed: false, remaining: 0 })
    })

    test('gives nothing back that time forgave, though the clock stepped back: never 20 of burst 10 at once', async () => {
      const clock = fakeClock()
      const orders = server(clock, { burst: 10, period: '1s' })
      const start = clock()
      let admitted = 0
      const spend = async (operationId: string) => {
        if ((await orders.spend('Orders', 'ann', spendAs(operationId, 10))).allowed) admitted += 10
      }
      clock.advance(millis(500))
      await spend('A')
      clock.advance(seconds(1))
      await spend('B')
      clock.set(start)
      await spend('C')
      await orders.refund({ operationId: 'A' })
      await spend('D')
      expect(admitted).toBe(20)
      // B is given back whole: no time has passed for it.
      await orders.refund({ operationId: 'B' })
      await spend('E')
      expect(admitted).toBe(30)
      expect(await orders.check('Orders', 'ann')).toMatchObject({ allowed: false, remaining: 0 })
    })

    test('gives nothing back from before a reset, though the clock has not moved', async () => {
      const orders = server(fakeClock(), { burst: 10, period: '1s' })
      await orders.spend('Orders', 'ann', spendAs('A', 10))
      await orders.reset('Orders', 'ann')
      await orders.spend('Orders', 'ann', spendAs('B', 10))
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({ allowed: false })
      expect((await orders.spend('Orders', 'ann')).allowed).toBe(false)
    })

    test('gives back what of the charge time has not, all of it or as much as is named', async () => {
      const clock = fakeClock()
      const orders = server(clock, { burst: 10, period: '1s' })
      await orders.spend('Orders', 'ann', spendAs('A', 4))
      await orders.spend('Orders', 'ann', spendAs('B', 6))
      clock.advance(millis(100))
      const some = { operationId: 'A', charges: [{ limit: 'Orders', id: 'ann', cost: 2 }] }
      expect(await orders.refund(some)).toMatchObject({ allowed: true, remaining: 2 })
      expect(await orders.refund({ operationId: 'B' })).toMatchObject({ remaining: 7 })
    })

    test('gives back once, though the clock stepped back and the refund is forgotten before its spend', async () => {
      const clock = fakeClock()
      const orders = server(clock, { burst: 10, period: '168h' })
      const start = clock()
      clock.advance(hours(1))
      await orders.spend('Orders', 'ann', spendAs('A', 5))
      await orders.spend('Orders', 'ann', spendAs('B', 5))
      clock.set(start)
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({
        allowed: true,
        remaining: 5,
      })
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({ replayed: true })
      clock.advance(hours(24))
      const late = await orders.refund({ operationId: 'A' })
      expect(late).toMatchObject({ allowed: false, reason: 'NOTHING_TO_RETURN', remaining: 6 })
      expect(await orders.spend('Orders', 'ann', { cost: 7 })).toMatchObject({ allowed: false })
    })

    test('of which a part was given back gives the rest at most', async () => {
      const clock = fakeClock()
      const orders = server(clock, { burst: 10, period: '168h' })
      const start = clock()
      const some = (cost: number) => ({
        operationId: 'A',
        charges: [{ limit: 'Orders', id: 'ann', cost }],
      })
      clock.advance(hours(1))
      await orders.spend('Orders', 'ann', spendAs('A', 5))
      await orders.spend('Orders', 'ann', spendAs('B', 5))
      clock.set(start)
      await orders.refund(some(3))
      clock.advance(hours(24))
      await expect(orders.refund(some(3))).rejects.toMatchObject({ code: 'OPERATION_CHARGES' })
      expect(await orders.refund(some(2))).toMatchObject({ allowed: true, remaining: 5 })
    })

    test('whose spend is the next to be forgotten gives back all the same', async () => {
      const store = over(memory({ clock: fakeClock() }))
      const limits = { Orders: { burst: 10, period: '1m' } } as const
      const orders = limiter({ store, limits, operations: { perScope: 2 } })
      await orders.spend('Orders', 'ann', spendAs('A', 5))
      await orders.spend('Orders', 'ann', spendAs('B', 5))
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({
        allowed: true,
        remaining: 5,
      })
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({ replayed: true })
    })

    test('of nothing gives nothing', async () => {
      const orders = server(fakeClock(), { burst: 10, period: '1s' })
      await orders.spend('Orders', 'ann', { cost: 5 })
      await orders.spend('Orders', 'ann', spendAs('A', 0))
      expect(await orders.refund({ operationId: 'A' })).toMatchObject({ allowed: false })
    })
  })

  describe('a dated spend', () => {
    test('says what its refund needs, and no operation is remembered', async () => {
      const clock = fakeClock()
      const orders = server(clock, { burst: 10, period: '1s' })
      const charge = { limit: 'Orders', id: 'ann', cost: 4 }
      const { charges } = await orders.spend({ ...charge, dated: true })
      const date = charges[0]?.date
      expect(date).toEqual({ at: clock(), since: clock(), interval: millis(100) })
      clock.advance(millis(300))
      const back = date === undefined ? charge : { ...charge, date }
      expect(await orders.refund({ charges: [back] })).toMatchObject({ remaining: 10 })
      await orders.spend({ ...charge, cost: 10 })
      expect(await orders.refund({ charges: [back] })).toMatchObject({
        allowed: false,
        remaining: 0,
      })
    })

    test('dates what was charged and nothing else; others are not dated', async () => {
      const orders = server(fakeClock(), { burst: 1, period: '1s' })
      const ann = { limit: 'Orders', id: 'ann' }
      const bob = { limit: 'Orders', id: 'bob', mode: 'try' } as const
      await orders.spend('Orders', 'bob')
      const dated = await orders.spend({ charges: [ann, bob], dated: true, operationId: 'A' })
      expect(dated.charges.map(({ date }) => date !== undefined)).toEqual([true, false])
      const refused = await orders.spend({ charges: [ann], dated: true })
      expect(refused.charges[0]).not.toHaveProperty('date')
      expect((await orders.spend('Orders', 'eve')).charges[0]).not.toHaveProperty('date')
    })
  })

  test('two servers on one file, bursts 10 and 1,000 at 1/s: 15 s admit 1,015, as the larger alone would', async () => {
    const clock = fakeClock()
    const path = scratchFile()
    const open = (burst: number) => {
      const store = sqlite({ path, clock })
      onTestFinished(() => store.close())
      return limiter({ store, limits: { Orders: { burst, count: 1, period: '1s' } } })
    }
    const [small, large] = [open(10), open(1_000)]
    let admitted = 0
    const spendAll = async (from: typeof small, cost: number) => {
      while ((await from.spend('Orders', 'ann', { cost })).allowed) admitted += cost
    }
    for (let second = 0; second <= 15; second++) {
      for (const cost of [100, 10, 1]) await spendAll(large, cost)
      await spendAll(small, 1)
      clock.advance(seconds(1))
    }
    expect(admitted).toBe(1_015)
  })

  test('a clock that leaps an hour and returns: who was charged meanwhile waits, and is told how long', async () => {
    const clock = fakeClock()
    const orders = server(clock, { burst: 2, period: '1m' })
    const start = clock()
    clock.advance(hours(1))
    await orders.spend('Orders', 'ann', { cost: 2 })
    clock.set(start)
    expect(await orders.spend('Orders', 'ann')).toMatchObject({
      allowed: false,
      retryIn: hours(1) + seconds(30),
    })
    expect((await orders.spend('Orders', 'bob', { cost: 2 })).allowed).toBe(true)
    await orders.reset('Orders', 'ann')
    expect((await orders.spend('Orders', 'ann', { cost: 2 })).allowed).toBe(true)
  })
})
