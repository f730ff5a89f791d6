/** What compaction is for: a file that stops growing. */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { SETTINGS } from '../../../test/support/ledger-desk.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { days, hours, span } from '../../core/time.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { NO_PLANS } from '../plans/resolve.ts'
import { createSpending } from '../spending.ts'

const DAYS = times(30, 90)
const PER_DAY = times(120, 2_000)
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
    for (let i = 0; i < PER_DAY; i += 40) {
      const batch = Array.from({ length: 40 }, async (_, n) => {
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
