/** One clock that is wrong stops its own process, and touches nothing of the others. */
import { describe, expect, test } from 'vitest'
import { everything } from '../../test/support/everything.ts'
import { fakeMachine } from '../../test/support/fake-machine.ts'
import { SETTINGS } from '../../test/support/ledger-desk.ts'
import type { MachineReading } from '../core/machine-clock.ts'
import { days, type Instant, instant, minutes, seconds, span } from '../core/time.ts'
import type { TimeSource } from '../lib/time-sources.ts'
import { memory } from '../stores/memory/index.ts'
import { createSpending, NO_PLANS, type Spending } from './index.ts'
import { keysOf } from './keys.ts'

const DAY = 86_400
const USER = { from: '0xb1', ip: '10.0.0.1' } as const
const HELD = { ...USER, estimate: 60n } as const

/** Processes over one store. Each reads the store's time by a clock that may be set ahead for it alone. */
const office = () => {
  const machine = fakeMachine()
  let ahead = 0
  const clock = () => instant(machine.clock() + seconds(ahead))
  const store = memory({ clock })
  const settings = { ...SETTINGS, total: 100n, tiers: { ...SETTINGS.tiers, BASIC: 100n } }
  const open = (more: object = {}): Spending =>
    createSpending({
      store,
      settings: () => settings,
      plans: () => NO_PLANS,
      machine: machine.read,
      ...more,
    })
  /** What another process does, whose clock is off by so many seconds. */
  const by = async <R>(seconds: number, act: (spending: Spending) => Promise<R>): Promise<R> => {
    ahead = seconds
    try {
      return await act(open())
    } finally {
      ahead = 0
    }
  }
  return { ...machine, store, open, by }
}

const CLOCK_UNTRUSTED = expect.objectContaining({ code: 'CLOCK_UNTRUSTED' })

describe.each([30 * DAY, 4 * 60, 6, -6, -4 * 60, -30 * DAY])(
  'a process that is %i s off',
  (off) => {
    test('is refused everything that decides or charges, and writes nothing', async () => {
      const { open, by, store } = office()
      const { holdId = '' } = await open().hold(HELD)
      const before = await everything(store)
      const refused = await by(off, (spending) => spending.hold(HELD))
      expect(refused).toMatchObject({ allowed: false, reason: 'CLOCK_UNTRUSTED', window: null })
      expect(await by(off, (s) => s.check(HELD))).toMatchObject({ reason: 'CLOCK_UNTRUSTED' })
      const acts: readonly ((spending: Spending) => Promise<unknown>)[] = [
        (s) => s.capture({ holdId, amount: 1n }),
        (s) => s.settle({ holdId, amount: 1n }),
        (s) => s.release({ holdId }),
        (s) => s.record({ ...USER, amount: 1n }),
        (s) => s.resetWindow(),
        (s) => s.pushBalance(5n),
        (s) => s.createPlan({ id: 'new', tier: 'EXTENDED' }),
        (s) => s.start(),
        (s) => s.compact(),
        (s) => s.window(),
        (s) => s.overview(),
      ]
      for (const act of acts) await expect(by(off, act)).rejects.toEqual(CLOCK_UNTRUSTED)
      expect(await by(off, (s) => s.lookAtClock())).toMatchObject({ trusted: false })
      expect(await everything(store)).toEqual(before)
    })

    test('changes no window, hold or retry time of the others', async () => {
      const { open, by, pass } = office()
      const spending = open()
      const held = await spending.hold(HELD)
      await by(off, (s) => s.hold(HELD))
      pass(60)
      const second = await spending.hold(HELD)
      expect(second).toMatchObject({ allowed: false, window: held.window })
      expect(second.retryIn).toBe(minutes(2))
      pass(120)
      expect(await spending.hold(HELD)).toMatchObject({ allowed: true, window: held.window })
    })
  },
)

test('off by five seconds is a small correction', async () => {
  const { open, by } = office()
  await open().start()
  expect(await by(5, (s) => s.hold(HELD))).toMatchObject({ allowed: true })
})

test('an idle payer, and a laptop that slept, do not look like a fast clock', async () => {
  const { open, pass } = office()
  const spending = open()
  await spending.hold(HELD)
  pass(400 * DAY)
  expect(await spending.hold(HELD)).toMatchObject({ allowed: true })
})

test('a clock behind the newest record waits until it has caught up, and says how long', async () => {
  const { open, leap, pass } = office()
  const spending = open()
  await spending.start()
  pass(120)
  await spending.lookAtClock()
  leap(-4)
  expect(await spending.hold(HELD)).toMatchObject({
    reason: 'CLOCK_UNTRUSTED',
    retryIn: seconds(4),
  })
  pass(4)
  expect(await spending.hold(HELD)).toMatchObject({ allowed: true })
})

test('without a machine the clock is not judged: a store may have one of its own', async () => {
  const { open, by } = office()
  await open().start()
  const unjudged = open({ machine: undefined })
  expect(await by(DAY, () => unjudged.hold(HELD))).toMatchObject({ allowed: true })
  expect(await unjudged.lookAtClock()).toMatchObject({ trusted: true })
  expect((await unjudged.repairClock()).found).toMatchObject({ trusted: true })
})

describe('after a reboot', () => {
  const telling =
    (at: () => Instant): TimeSource =>
    async () =>
      at()
  const silent: TimeSource = () => Promise.reject(new Error('no answer'))

  test('the clock is taken as it is where no source is given, and that is told', async () => {
    const { open, reboot, pass } = office()
    await open().start()
    pass(60)
    reboot('boot-2')
    expect(await open().lookAtClock()).toMatchObject({ trusted: true, basis: 'nothing' })
    reboot('boot-3')
    expect(await open().hold(HELD)).toMatchObject({ allowed: true })
  })

  test('more than half of the sources must agree before anything is spent', async () => {
    const { open, reboot, pass, clock } = office()
    await open().start()
    pass(60)
    reboot('boot-2')
    const wrong = telling(() => instant(clock() + seconds(3_600)))
    const right = telling(clock)
    const unsure = open({ timeSources: [right, wrong, silent] })
    expect(await unsure.hold(HELD)).toMatchObject({ reason: 'CLOCK_UNTRUSTED' })
    await expect(unsure.compact()).rejects.toEqual(CLOCK_UNTRUSTED)
    expect(await unsure.window()).toBeDefined()
    const sure = open({ timeSources: [right, right, silent] })
    expect(await sure.hold(HELD)).toMatchObject({ allowed: true })
    expect(await unsure.check(HELD)).not.toMatchObject({ reason: 'CLOCK_UNTRUSTED' })
  })
})

describe('a repair', () => {
  const entriesOf = async (spending: Spending): Promise<string> => {
    const lines: string[] = []
    for await (const line of spending.export('jsonl')) lines.push(line)
    return lines.join('\n')
  }

  test('accepts a correction as an entry with who and why, and does nothing where none is needed', async () => {
    const { open, leap } = office()
    const spending = open()
    await spending.start()
    expect((await spending.repairClock()).found).toMatchObject({ trusted: true })
    leap(3_600)
    expect(await spending.hold(HELD)).toMatchObject({ allowed: false })
    const note = { actor: 'ops', reason: 'the battery was dead' }
    expect((await spending.repairClock(note)).found).toMatchObject({ reason: 'leapt' })
    expect(await spending.hold(HELD)).toMatchObject({ allowed: true })
    const told = await entriesOf(spending)
    expect(told).toContain('clock accepted: 1h0m0s ahead of the record of its boot')
    expect(told).toContain('the battery was dead')
    expect(await spending.verify()).toMatchObject({ findings: [] })
    const long = { reason: 'x'.repeat(257) }
    await expect(spending.repairClock(long)).rejects.toThrow('must be 1 to 256 characters')
  })

  test('brings a payer back out of the future, into the window that it was in', async () => {
    const { open, by } = office()
    const spending = open()
    const held = await spending.hold(HELD)
    // A process that judges no clock, as an older version.
    const unguarded = open({ machine: undefined })
    await by(30 * DAY, () => unguarded.hold({ ...HELD, estimate: 5n }))
    expect(await spending.hold(HELD)).toMatchObject({ reason: 'CLOCK_UNTRUSTED' })
    expect((await spending.repairClock()).found).toMatchObject({ reason: 'behind' })
    const again = await spending.check({ ...USER, estimate: 40n })
    expect(again).toMatchObject({ allowed: true, window: held.window })
    expect((await spending.check(HELD)).allowed).toBe(false)
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })
})

describe('a repair after a boot with a fast clock', () => {
  const ROUND = { compactAfter: days(10), rememberFor: days(2) }
  const opened = (settings = {}) => {
    const machine = fakeMachine()
    const inForce = { ...SETTINGS, ...settings }
    const store = memory({ clock: machine.clock })
    const spending = createSpending({
      store,
      settings: () => inForce,
      plans: () => NO_PLANS,
      machine: machine.read,
    })
    /** Boots with a clock that is so many days ahead, acts, and is set right. */
    const ahead = async (length: number, act: () => Promise<unknown>): Promise<void> => {
      machine.pass(60)
      machine.reboot('fast')
      machine.leap(length * DAY)
      await act()
      machine.leap(-length * DAY)
      machine.pass(60)
      await spending.repairClock({ reason: 'fast' })
    }
    return { ...machine, store, spending, ahead }
  }

  test('that compacted: what is spent from now on stays, and is verified', async () => {
    const { spending, ahead, store } = opened(ROUND)
    await spending.record({ ...USER, amount: 100n })
    await ahead(30, async () => {
      await spending.record({ ...USER, amount: 1n })
      expect(await spending.compact()).toMatchObject({ entries: 1 })
    })
    await spending.record({ ...USER, amount: 300n, operationId: 'tx-1' })
    await spending.compact()
    expect(await spending.hold({ ...USER, estimate: 300n })).toMatchObject({ allowed: false })
    expect(await spending.verify()).toMatchObject({ findings: [] })
    const { startsAt } = await spending.window()
    const key = keysOf(SETTINGS.payer).budget(startsAt, 'plan/basic:0xb1')
    await store.transact(() => ({ writes: [{ key }], appends: [], result: undefined }))
    expect((await spending.verify()).findings).toMatchObject([{ kind: 'balance-drift' }])
  })

  test('that compacted: what is booked from now on can be taken back', async () => {
    const { spending, ahead } = opened(ROUND)
    await spending.record({ ...USER, amount: 100n })
    await ahead(30, async () => {
      await spending.record({ ...USER, amount: 1n })
      await spending.compact()
    })
    await spending.record({ ...USER, amount: 50n, operationId: 'tx-1' })
    const reversal = await spending.reverse({ of: 'tx-1', reason: 'charged twice' })
    expect(reversal).toMatchObject({ reversed: 50n })
  })

  test('that died before its balances were let go: none of them is left', async () => {
    const { spending, ahead, store } = opened(ROUND)
    await spending.record({ ...USER, amount: 100n })
    await ahead(30, async () => {
      await spending.record({ ...USER, amount: 1n })
      const { range } = store
      Object.assign(store, { range: () => Promise.reject(new Error('gone')) })
      await spending.compact().catch(() => undefined)
      Object.assign(store, { range })
    })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('gives back a grant that the fast clock let expire, and dropped', async () => {
    const { spending, ahead, clock } = opened()
    const plan = 'basic:0xb1'
    const expiresAt = instant(clock() + days(10))
    await spending.grant({ plan, amount: 50n, expiresAt, actor: 'ann' })
    const before = await spending.grants(plan)
    await ahead(30, async () => {
      const { grantId } = await spending.grant({ plan, amount: 5n })
      await spending.voidGrant({ plan, grant: grantId, reason: 'not now' })
      expect(await spending.grants(plan)).toEqual([])
    })
    expect(await spending.grants(plan)).toEqual(before)
    expect(await spending.hold({ ...USER, estimate: 340n })).toMatchObject({ allowed: true })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test.each([
    [false, 1],
    [true, 1],
    [false, 2],
    [true, 2],
  ])('finds the window of now, opened early: %s, from %i windows ahead', async (early, turns) => {
    const { spending, ahead, pass, leap } = opened()
    await spending.start()
    pass(60)
    if (early) await spending.resetWindow()
    await spending.record({ ...USER, amount: 300n })
    const window = await spending.window()
    await ahead(30, async () => {
      for (let turn = 0; turn < turns; turn += 1) {
        await spending.record({ from: '0xc1', amount: 1n })
        pass(DAY)
      }
      leap(-turns * DAY)
    })
    expect(await spending.window()).toEqual(window)
    expect(await spending.hold({ ...USER, estimate: 300n })).toMatchObject({ allowed: false })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })
})

test('a reading says which boot it is of, so two machines on one store are judged apart', async () => {
  const { open, clock } = office()
  const other = (): MachineReading => ({ boot: 'elsewhere', uptime: span(clock() / 2) })
  await open().start()
  expect(await open({ machine: other }).hold(HELD)).toMatchObject({ allowed: true })
  expect(await open().check({ ...USER, estimate: 1n })).toMatchObject({ allowed: true })
})
