/** Any history of a machine and its clock: what a signer may release, and when it must not refuse. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples, varied } from '../../../test/support/odis-samples.ts'
import { CLOCK_WALK } from '../../core/machine-clock.ts'
import { memory } from '../../stores/memory/index.ts'
import { repairClock, watchClock } from './clock-guard.ts'
import { MAX_CLOCK_OFF } from './clock-record.ts'
import { createSigner } from './signer.ts'

/** One attempt, and one more an hour after each; anyone may ask. */
const DELAY = 3_600
const sample = varied(samples('history')['linear backoff'], {
  domain: { cap: 1, refresh: { defined: true, value: DELAY * 1_000 } },
})

const open = () => {
  const machine = fakeMachine()
  const store = memory({ clock: machine.clock })
  const key = { kind: 'single', secret: new Uint8Array(32) } as const
  const signer = createSigner({
    store,
    machine: machine.read,
    evaluator: { evaluate: async () => new Uint8Array(1) },
    keys: { current: 1, find: () => key },
    version: 'test',
  })
  let asked = 0
  const ask = async (): Promise<number> => {
    asked += 1
    const body = JSON.stringify(requestFor(sample, { session: `${asked}` }))
    return (await signer.answer('sign', { body: new TextEncoder().encode(body) })).status
  }
  const watch = () => watchClock({ store, machine: machine.read })
  const repair = () => repairClock({ store, machine: machine.read })
  return { ...machine, ask, watch, repair }
}

/** Asks at the end of each deed, as someone does who wants an attempt as early as may be. */
const passing = fc.record({ deed: fc.constant('pass' as const), length: fc.nat(3 * DELAY) })
const sleeping = fc.record({ deed: fc.constant('sleep' as const), length: fc.nat(100 * DELAY) })
const setting = fc.record({
  deed: fc.constant('set' as const),
  length: fc.oneof(fc.integer({ min: -70, max: 70 }), fc.integer({ min: -9_000, max: 9_000 })),
})

test('within a boot, however the clock is set, an attempt comes at most two minutes and a two-thousandth before it is due', async () => {
  const history = fc.array(fc.oneof(passing, sleeping, setting), { minLength: 5, maxLength: 40 })
  let granted = 0
  await fc.assert(
    fc.asyncProperty(history, async (deeds) => {
      const { ask, watch, pass, leap, read } = open()
      await watch()
      let last: number | undefined
      for (const { deed, length } of deeds) {
        if (deed === 'set') leap(length)
        else pass(length)
        // A signer that sleeps or stands still does not look.
        if (deed === 'pass') await watch()
        if ((await ask()) !== 200) continue
        granted += 1
        const now = read().uptime
        const due = DELAY * 1_000_000 - 2 * MAX_CLOCK_OFF
        const waited = last === undefined ? due : now - last
        expect(waited + waited / CLOCK_WALK).toBeGreaterThanOrEqual(due)
        last = now
      }
    }),
    { numRuns: times(60, 5_000) },
  )
  expect(granted).toBeGreaterThan(times(60, 5_000))
}, 600_000)

test('a clock that nobody sets is trusted through any idleness, sleep, reboot and repair', async () => {
  const rebooting = fc.record({ deed: fc.constant('reboot' as const), length: fc.nat(999) })
  const repairing = fc.record({ deed: fc.constant('repair' as const), length: fc.nat(999) })
  const history = fc.array(fc.oneof(passing, sleeping, rebooting, repairing), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(history, async (deeds) => {
      const { ask, watch, repair, pass, reboot } = open()
      await watch()
      for (const [i, { deed, length }] of deeds.entries()) {
        pass(length)
        if (deed === 'repair') await repair()
        if (deed === 'reboot') reboot(`again-${i}`)
        if (deed === 'reboot' || deed === 'pass') {
          expect(await watch()).toMatchObject({ trusted: true, offBy: 0 })
        }
        expect([200, 429]).toContain(await ask())
      }
    }),
    { numRuns: times(40, 2_000) },
  )
}, 600_000)
