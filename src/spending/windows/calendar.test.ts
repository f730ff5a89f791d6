/** Windows as data: which one a payer is in, whatever the clock, the time zone and the configuration do. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'
import { days, hours, type Instant, instant, minutes, seconds } from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { alignedWindow, calendarAt } from './calendar.ts'
import { localDay, startOfDay } from './midnight.ts'

const shown = ({ startsAt, endsAt }: { startsAt: Instant; endsAt: Instant }) =>
  [startsAt, endsAt].map((at) => toTimestamp(at).replace(/:00\.0+Z$/, ''))

const moment = (text: string) => instant(Date.parse(text) * 1_000)

describe('windows that start at midnight', () => {
  test.each([
    ['UTC', '2026-01-01T10:00:00Z', ['2026-01-01T00:00', '2026-01-02T00:00']],
    ['Asia/Tokyo', '2026-01-01T15:00:00Z', ['2026-01-01T15:00', '2026-01-02T15:00']],
    ['America/New_York', '2026-01-01T04:59:59Z', ['2025-12-31T05:00', '2026-01-01T05:00']],
    ['Asia/Kathmandu', '2026-01-01T18:14:59Z', ['2025-12-31T18:15', '2026-01-01T18:15']],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', ['2026-03-28T23:00', '2026-03-29T22:00']],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', ['2026-10-24T22:00', '2026-10-25T23:00']],
    ['America/Sao_Paulo', '2018-11-04T12:00:00Z', ['2018-11-04T03:00', '2018-11-05T02:00']],
    ['America/Sao_Paulo', '2018-02-17T12:00:00Z', ['2018-02-17T02:00', '2018-02-18T03:00']],
  ])('%s at %s: %j', async (midnight, start, expected) => {
    const { spending } = openDesk({ start, window: { length: days(1), align: { midnight } } })
    expect(shown(await spending.window())).toEqual(expected)
  })

  test('cover every moment of a year once, in zones that change their clocks', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'UTC']) {
      const first = localDay(zone, moment('2018-01-01T12:00:00Z'))
      for (let day = first; day < first + 365; day++) {
        const [start, end] = [startOfDay(zone, day), startOfDay(zone, day + 1)]
        expect(end).toBeGreaterThan(start)
        expect([localDay(zone, start), localDay(zone, instant(end - 1))]).toEqual([day, day])
      }
    }
  })

  test('may be several days long', async () => {
    const window = { length: days(7), align: { midnight: 'Europe/Berlin' } }
    const { spending } = openDesk({ start: '2026-03-29T12:00:00Z', window })
    expect(shown(await spending.window())).toEqual(['2026-03-25T23:00', '2026-04-01T22:00'])
  })

  test.each([
    [hours(5), 'UTC'],
    [days(1), 'Mars/Olympus'],
  ])('are not %s long in %s', async (length, midnight) => {
    const { spending } = openDesk({ window: { length, align: { midnight } } })
    expect(await codeOf(spending.window())).toBe('WINDOW_INVALID')
  })
})

describe('windows that count from the first start', () => {
  const window = { length: minutes(10), align: 'start' } as const

  test('do so also after a restart, by any server', async () => {
    const desk = openDesk({ start: '2026-01-01T10:17:00Z', window })
    await desk.spending.start()
    desk.clock.advance(minutes(25))
    expect(shown(await desk.spending.start())).toEqual(['2026-01-01T10:37', '2026-01-01T10:47'])
  })

  test('count from the first charge where the start was not noted', async () => {
    const desk = openDesk({ start: '2026-01-01T10:17:00Z', window })
    await desk.spending.record({ amount: 1n })
    desk.clock.advance(minutes(10))
    expect(shown(await desk.spending.window())).toEqual(['2026-01-01T10:27', '2026-01-01T10:37'])
  })
})

describe('a window', () => {
  test('whose length is changed ends as it was begun: a reload refunds nothing', async () => {
    const desk = openDesk({
      start: '2026-01-01T10:30:00Z',
      window: { length: days(1), align: 'epoch' },
    })
    await desk.spending.record({ from: '0xa1', amount: 300n })
    desk.settings = { ...desk.settings, window: { length: hours(1), align: 'epoch' } }
    desk.clock.advance(hours(13))
    expect((await desk.spending.check({ from: '0xa1' })).reason).toBe('PLAN_LIMIT')
    desk.clock.advance(hours(1))
    expect(shown(await desk.spending.window())).toEqual(['2026-01-02T00:00', '2026-01-02T01:00'])
  })

  test('after a change to longer ones starts where the last one ended', async () => {
    const desk = openDesk({
      start: '2026-01-01T10:30:00Z',
      window: { length: hours(1), align: 'epoch' },
    })
    await desk.spending.record({ amount: 1n })
    desk.settings = { ...desk.settings, window: { length: days(1), align: 'epoch' } }
    desk.clock.advance(hours(1))
    expect(shown(await desk.spending.window())).toEqual(['2026-01-01T11:00', '2026-01-02T00:00'])
  })

  test('opened early starts on empty balances, deletes nothing, and leaves an entry', async () => {
    const desk = openDesk()
    const before = await desk.spending.window()
    await desk.spending.record({ from: '0xa1', amount: 300n })
    const { holdId = '' } = await desk.spending.hold({ from: '0xb1', estimate: 100n })
    desk.clock.advance(seconds(60))
    const opened = await desk.spending.resetWindow({ actor: 'ops' })
    expect(shown(opened)).toEqual(['2026-01-01T10:01', '2026-01-02T00:00'])
    expect(await desk.spending.check({ from: '0xa1', estimate: 300n })).toMatchObject({
      allowed: true,
      total: { spent: 0n, held: 0n },
    })
    expect(await desk.spending.settle({ holdId, amount: 40n })).toMatchObject({
      late: false,
      window: { startsAt: before.startsAt },
    })
    expect((await desk.spending.report(before.startsAt)).total).toBe(340n)
    const again = await desk.spending.resetWindow()
    expect(again.startsAt).toBeGreaterThan(opened.startsAt)
    expect((await desk.spending.verify()).findings).toEqual([])
  })

  test('is not left again when the clock steps back', async () => {
    const desk = openDesk({ start: '2026-01-02T00:00:01Z' })
    await desk.spending.record({ from: '0xa1', amount: 300n })
    desk.clock.set('2026-01-01T23:00:00Z')
    expect(await desk.spending.check({ from: '0xa1' })).toMatchObject({ reason: 'PLAN_LIMIT' })
  })

  test('has a length', async () => {
    const { spending } = openDesk({ window: { length: seconds(0), align: 'epoch' } })
    expect(await codeOf(spending.window())).toBe('WINDOW_INVALID')
  })
})

describe('windows of one length', () => {
  const hourly = { length: hours(1), align: 'epoch' } as const

  test('are half-open: the boundary belongs to the new one', () => {
    const at = (now: number) => alignedWindow(hourly, instant(0), instant(now))
    expect(at(hours(3) - 1).startsAt).toBe(hours(2))
    expect(at(hours(3))).toEqual({ startsAt: hours(3), endsAt: hours(4) })
  })

  test('have other boundaries where they count from an origin of their own', () => {
    const { startsAt } = alignedWindow({ ...hourly, align: 'start' }, instant(90), instant(89))
    expect(startsAt).toBe(90 - hours(1))
  })

  test('are the newest one seen while the clock is behind it, and then follow the clock', () => {
    const first = calendarAt(instant(hours(5)), undefined, hourly)
    const behind = calendarAt(instant(hours(2)), first, hourly)
    expect([behind.window, behind.seen]).toEqual([first.window, hours(5)])
    expect(calendarAt(instant(hours(7)), behind, hourly).window.startsAt).toBe(hours(7))
  })
})
