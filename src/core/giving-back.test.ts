/** Buckets whose limit differs or changes, whose clock goes back, and to which charges are given back. */
import { describe, expect, test } from 'vitest'
import { at, keptBucket as bucket, perSecond, T0 } from '../../test/support/kept-bucket.ts'
import { hours, instant, millis, seconds, span } from './time.ts'

describe('limits that differ', () => {
  const small = perSecond(1, 10)
  const large = perSecond(1, 1_000)

  test('servers with bursts of 10 and 1,000 at 1/s admit 1,015 in 15 s (by fill ratio alone, 2,500)', () => {
    const subscriber = bucket(large)
    let admitted = 0
    for (let tick = 0; tick <= 150; tick++) {
      const now = at(tick * millis(100))
      subscriber.change(large)
      while (subscriber.spend(now).allowed) admitted += 1
      // Refused, but it sets the pace at which a tenth of the burst comes back every second.
      subscriber.change(small)
      expect(subscriber.spend(now).allowed).toBe(false)
    }
    expect(admitted).toBe(1_015)
  })

  test('tokens used under the larger limit are owed until that bucket is full', () => {
    const subscriber = bucket(large)
    subscriber.spend(T0, 990)
    subscriber.change(small)
    expect(subscriber.spend(T0)).toMatchObject({ allowed: false, resetIn: seconds(990) })
    expect(subscriber.ask('check', at(seconds(9.9)), 0)).toMatchObject({ remaining: 10 })
    subscriber.spend(at(seconds(9.9)))
    expect(subscriber.state()?.largest).toMatchObject({ burst: 1_000, tat: at(seconds(991)) })
    // The small bucket is full again and again; the large one counts every token of it.
    subscriber.spend(at(seconds(990)), 10)
    expect(subscriber.state()?.largest).toMatchObject({ tat: at(seconds(1_001)) })
  })

  test('once that one is full, the bucket is as if there had been one limit only', () => {
    const subscriber = bucket(large)
    subscriber.spend(T0, 500)
    subscriber.change(small)
    subscriber.spend(T0)
    expect(subscriber.state()?.largest?.tat).toBe(at(seconds(501)))
    subscriber.spend(at(seconds(501)))
    expect(subscriber.state()?.largest).toBeUndefined()
  })

  test('a raised limit owes nothing: its bucket counts at least as many tokens as used', () => {
    const subscriber = bucket(small)
    subscriber.spend(T0, 5)
    subscriber.change(large)
    expect(subscriber.spend(T0)).toMatchObject({ allowed: true, remaining: 499 })
    expect(subscriber.state()?.largest).toBeUndefined()
  })

  test('what is owed refuses by itself, with an honest wait', () => {
    const subscriber = bucket(large)
    subscriber.spend(T0, 1_000)
    subscriber.change(small)
    subscriber.spend(T0)
    subscriber.change(large)
    // Five of ten came back, which is half of a thousand; but only five tokens did.
    const now = at(seconds(5))
    expect(subscriber.ask('check', now, 6)).toMatchObject({
      allowed: false,
      reason: 'RATE_LIMIT',
      remaining: 5,
      retryIn: seconds(1),
      resetIn: seconds(995),
    })
    expect(subscriber.spend(now, 5)).toMatchObject({ remaining: 0, retryIn: seconds(5) })
    expect(subscriber.ask('record', now, 900)).toMatchObject({ remaining: 0 })
    expect(subscriber.spend(at(seconds(6))).allowed).toBe(true)
  })

  test('a limit that is larger in one way and smaller in the other joins the largest of both', () => {
    const subscriber = bucket(perSecond(1, 100))
    subscriber.spend(T0, 60)
    subscriber.change(perSecond(10, 10))
    subscriber.spend(T0)
    expect(subscriber.state()?.largest).toEqual({
      burst: 100,
      interval: millis(100),
      tat: at(millis(6_100)),
    })
    subscriber.change(perSecond(2, 5))
    subscriber.spend(T0, 1)
    expect(subscriber.state()?.largest).toMatchObject({ burst: 100, interval: millis(100) })
  })

  test('a limit larger than all before admits its whole burst less what is owed', () => {
    const subscriber = bucket(large)
    subscriber.spend(T0, 900)
    subscriber.change(small)
    subscriber.spend(T0)
    // Nothing is used of the small bucket any more, and 890 of the large one still are.
    const now = at(seconds(11))
    subscriber.change(perSecond(1, 2_000))
    expect(subscriber.ask('check', now, 0)).toMatchObject({ remaining: 1_110 })
  })
})

describe('a clock that goes back', () => {
  test('finds the bucket as it was: time that has refilled it does not refill it again', () => {
    const subscriber = bucket(perSecond(10))
    subscriber.spend(T0, 10)
    const earlier = at(-hours(1))
    const wait = hours(1) + millis(100)
    expect(subscriber.spend(earlier)).toMatchObject({
      allowed: false,
      remaining: 0,
      retryIn: wait,
      resetIn: hours(1) + seconds(1),
    })
    expect(subscriber.spend(instant(earlier + wait - 1)).allowed).toBe(false)
    expect(subscriber.spend(instant(earlier + wait)).allowed).toBe(true)
  })

  test('leaves the tokens that were left, and takes none by itself', () => {
    const subscriber = bucket(perSecond(10))
    subscriber.spend(T0, 4)
    const earlier = at(-hours(1))
    expect(subscriber.ask('check', earlier, 6)).toMatchObject({ allowed: true, remaining: 0 })
    for (let i = 0; i < 6; i++) expect(subscriber.spend(earlier).allowed).toBe(true)
    expect(subscriber.spend(earlier).allowed).toBe(false)
  })

  test('to and fro gains nothing: 10 steps of an hour admit one burst and what an hour gives', () => {
    const subscriber = bucket({ kind: 'gcra', burst: 10, count: 10, period: hours(1) })
    let admitted = 0
    for (let i = 0; i < 20; i++) {
      while (subscriber.spend(at(i % 2 === 0 ? 0 : hours(1))).allowed) admitted += 1
    }
    expect(admitted).toBe(20)
  })

  test('a reset is the remedy: it gives a burst at once, though time must still catch up', () => {
    const subscriber = bucket(perSecond(10))
    subscriber.spend(T0, 10)
    const earlier = at(-hours(1))
    subscriber.reset(earlier)
    expect(subscriber.spend(earlier, 10)).toMatchObject({ allowed: true, remaining: 0 })
    expect(subscriber.spend(earlier)).toMatchObject({ retryIn: hours(1) + millis(100) })
  })
})

describe('giving back', () => {
  const limit = perSecond(10)

  test('at once, a dated give-back restores the whole charge', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 4)
    expect(subscriber.ask('refund', T0, 4, date)).toMatchObject({ allowed: true, remaining: 10 })
  })

  test('later, it restores only what time has not forgiven already', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 4)
    subscriber.spend(at(millis(300)), 9)
    const refunded = subscriber.ask('refund', at(millis(300)), 4, date)
    expect(refunded).toMatchObject({ remaining: 1, resetIn: millis(900), retryIn: 0 })
  })

  test('it never reaches below now', () => {
    const subscriber = bucket(limit)
    subscriber.spend(T0, 1)
    expect(subscriber.ask('refund', T0, 5)).toMatchObject({
      allowed: true,
      remaining: 10,
      resetIn: 0,
    })
  })

  test('a full bucket takes nothing back', () => {
    const subscriber = bucket(limit)
    expect(subscriber.ask('refund', T0, 1)).toMatchObject({ allowed: false, remaining: 10 })
    expect(subscriber.state()).toBeUndefined()
  })

  test('a charge made under another limit is not given back in the new one’s tokens', () => {
    const subscriber = bucket({ kind: 'gcra', burst: 600, count: 600, period: hours(3) })
    const date = subscriber.charge(T0, 300)
    subscriber.spend(T0, 300)
    // The same capacity of three hours: only burst and interval tell them apart.
    subscriber.change({ kind: 'gcra', burst: 300, count: 300, period: hours(3) })
    const refunded = subscriber.ask('refund', T0, 300, date)
    expect(refunded).toMatchObject({ allowed: false, reason: 'NOTHING_TO_RETURN', remaining: 0 })
  })

  test('nor after the limit went there and back', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 4)
    subscriber.change(perSecond(10, 5))
    subscriber.spend(T0)
    subscriber.change(limit)
    subscriber.spend(T0)
    expect(subscriber.ask('refund', T0, 4, date).allowed).toBe(false)
  })

  test('nor a charge of another interval in a filling of the same name', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 4)
    const other = { ...date, interval: span(date.interval + 1) }
    expect(subscriber.ask('refund', T0, 4, other).allowed).toBe(false)
  })

  test('nor what was charged before a reset, though all happens in one microsecond', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 10)
    subscriber.reset(T0)
    subscriber.spend(T0, 10)
    expect(subscriber.ask('refund', T0, 10, date)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test.each([
    ['what was charged before the bucket was full, though all happens in one microsecond', 10],
    ['by an undated refund and then again: that may have been among it', 7],
  ])('nor %s', (_, returned) => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 5)
    subscriber.spend(T0, 5)
    subscriber.ask('refund', T0, returned)
    subscriber.spend(T0, returned)
    expect(subscriber.ask('refund', T0, 5, date)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('nor after a record past the cap, which took less than its cost', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 5)
    subscriber.ask('record', T0, 10)
    expect(subscriber.ask('refund', T0, 5, date)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('a clock that went back restores no more: burst 10, never 20 in one microsecond', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(at(millis(500)), 10)
    subscriber.spend(at(millis(1_500)), 10)
    const refunded = subscriber.ask('refund', at(millis(500)), 10, date)
    expect(refunded).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('a charge dated in the future of a clock that went back restores no more than itself', () => {
    const subscriber = bucket(limit)
    const date = subscriber.charge(T0, 2)
    const earlier = at(-millis(500))
    expect(subscriber.ask('refund', earlier, 2, date)).toMatchObject({
      allowed: true,
      remaining: 10,
    })
  })

  test('is also counted by what is owed to a larger limit', () => {
    const subscriber = bucket(perSecond(10, 100))
    subscriber.spend(T0, 50)
    subscriber.change(limit)
    const date = subscriber.charge(T0, 4)
    expect(subscriber.state()?.largest?.tat).toBe(at(millis(5_400)))
    subscriber.ask('refund', at(millis(100)), 4, date)
    expect(subscriber.state()?.largest?.tat).toBe(at(millis(5_100)))
  })
})
