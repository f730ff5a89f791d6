/** What compaction is for, a file that stops growing; and what comes to windows that it took. */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { codeOf, openDesk, SETTINGS } from '../../../test/support/ledger-desk.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { days, hours, span } from '../../core/time.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { NO_PLANS } from '../plans/resolve.ts'
import { createSpending } from '../spending.ts'

const DAYS = times(30, 90)
const PER_DAY = times(120, 2_000)
const AT_ONCE = times(40, 500)
const COMPACT_AFTER = 6
/** From then on a day goes for each that comes: kept, the window itself, and what is remembered. */
const STEADY = 12

test('once days are compacted, a day that comes takes the room of one that goes', async () => {
  const path = scratchFile()
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const started = clock()
  const uptime = () => span(clock() - started)
  const settings = {
    ...SETTINGS,
    total: 'unlimited' as const,
    compactAfter: days(COMPACT_AFTER),
    rememberFor: days(2),
  }
  const open = () => {
    const store = sqlite({ path, clock, uptime })
    const options = { store, settings: () => settings, plans: () => NO_PLANS }
    return { store, spending: createSpending(options) }
  }
  const sizes: number[] = []
  for (let day = 0; day < DAYS; day += 1) {
    const { store, spending } = open()
    const from = (i: number) => `0x${((i * 7) % (PER_DAY / 4)).toString(16).padStart(40, '0')}`
    for (let i = 0; i < PER_DAY; i += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, async (_, n) => {
        const operationId = `${day}.${i + n}`
        const hold = { from: from(i + n), estimate: 5n, operationId }
        const { holdId = '' } = await spending.hold(hold)
        await spending.settle({ holdId, amount: 3n })
      })
      await Promise.all(batch)
    }
    await spending.compact()
    if (day === DAYS - 1) expect(await spending.verify()).toMatchObject({ findings: [] })
    await store.close()
    sizes.push(statSync(path).size)
    clock.advance(hours(24))
  }
  const [steady = 0, last = 0] = [sizes[STEADY], sizes.at(-1)]
  expect(sizes[2]).toBeLessThan(steady)
  expect(Math.abs(last - steady) / steady, String(sizes)).toBeLessThanOrEqual(0.05)
})

/** A hold of the first window that is captured day by day, which keeps it remembered until that is gone. */
const captured = async () => {
  const desk = openDesk({ compactAfter: days(10), rememberFor: days(2), total: 'unlimited' })
  const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 5n })
  for (let day = 0; day < 12; day += 1) {
    desk.clock.advance(days(1))
    await desk.spending.capture({ holdId, amount: 1n, operationId: `part-${day}` })
  }
  const { entries } = await desk.spending.compact()
  expect(entries).toBeGreaterThan(0)
  return { ...desk, holdId }
}

test('what is charged to a hold whose window was compacted counts in the window of now', async () => {
  const { spending, holdId } = await captured()
  expect(await spending.plan('basic:0xa1')).toMatchObject({ spent: 0n })
  expect(await spending.capture({ holdId, amount: 7n })).toMatchObject({ charged: 7n, late: true })
  expect(await spending.plan('basic:0xa1')).toMatchObject({ spent: 7n })
  expect(await spending.settle({ holdId })).toMatchObject({ charged: 0n })
  expect((await spending.verify()).findings).toEqual([])
})

test('what was booked in a window that was compacted cannot be taken back', async () => {
  const { spending } = await captured()
  const reversal = spending.reverse({ of: 'part-11', reason: 'charged twice' })
  expect(await codeOf(reversal)).toBe('BOOKING_NOT_FOUND')
  expect((await spending.verify()).findings).toEqual([])
})

test('what was charged to a hold whose window was compacted is taken back where it counts', async () => {
  const { spending, holdId } = await captured()
  const operation = 'FileAppendTransaction'
  await spending.capture({ holdId, amount: 7n, operation, operationId: 'late' })
  expect((await spending.report()).byOperation).toMatchObject({ FileAppendTransaction: 7n })
  const reversal = spending.reverse({ of: 'late', amount: 4n, reason: 'charged twice' })
  expect(await reversal).toMatchObject({ reversed: 4n, left: 3n, plan: { spent: 3n } })
  expect((await spending.verify()).findings).toEqual([])
})

test('a capture that comes after the window of its settlement was compacted moves nothing of it', async () => {
  const desk = openDesk({ compactAfter: days(10), rememberFor: days(9) })
  const { holdId = '' } = await desk.spending.hold({ from: '0xa1', estimate: 50n })
  for (let day = 0; day < 3; day += 1) {
    desk.clock.advance(days(4))
    await desk.spending.capture({ holdId, amount: 1n })
  }
  await desk.spending.settle({ holdId, amount: 50n })
  await desk.spending.compact()
  const operation = 'FileAppendTransaction'
  const late = { holdId, amount: 40n, operation, operationId: 'late' }
  expect(await desk.spending.capture(late)).toMatchObject({ charged: 0n })
  expect((await desk.spending.report()).total).toBe(0n)
  const reversal = desk.spending.reverse({ of: 'late', reason: 'charged twice' })
  expect(await codeOf(reversal)).toBe('REVERSAL_INVALID')
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('a hold may live for a day, so no policy lets its window go before', async () => {
  const { spending } = openDesk({ compactAfter: days(2), rememberFor: days(2) })
  expect(await codeOf(spending.compact())).toBe('COMPACTION_TOO_SOON')
})
