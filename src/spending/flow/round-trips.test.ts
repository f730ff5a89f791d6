/** How often each verb asks a store that is far away: once where nothing moved meanwhile, else twice. */
import { describe, expect, test } from 'vitest'
import { plansOf, SETTINGS } from '../../../test/support/ledger-desk.ts'
import type { Store } from '../../core/store.ts'
import { days, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../testing/fake-clock.ts'
import { pretendedCluster } from '../../testing/pretended-cluster.ts'
import { remoteStore } from '../../testing/remote-store.ts'
import { createSpending, type Purpose, type Spending, type SpendingSettings } from '../index.ts'

interface Server {
  readonly spending: Spending
  trips(call: (spending: Spending) => Promise<unknown>): Promise<number>
}

interface Servers {
  readonly clock: FakeClock
  /** One that has just started, and so has seen the calendar and nothing else. */
  another(underWay?: () => void): Promise<Server>
}

const USER = { from: '0xb1', ip: '10.0.0.1', operation: 'FileAppend' } as const
const OTHER = { from: '0xd1', ip: '10.0.0.9', operation: 'FileAppend' } as const

const SETTINGS_HERE: SpendingSettings = {
  ...SETTINGS,
  total: 100_000n,
  tiers: { BASIC: 5_000n, EXTENDED: 5_000n, PRIVILEGED: 5_000n },
  ipCeiling: 4_000n,
  rollover: { sharePerMille: 500 },
  categories: new Map([['FileAppend', 90_000n]]),
}

/** Over one store, in which two windows have passed with every kind of plan. */
async function servers(): Promise<Servers> {
  const clock = fakeClock('2026-01-01T10:00:00Z')
  const backend = pretendedCluster(memory({ clock }))
  const plans = plansOf({ id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' })
  const machine = () => ({ boot: 'boot', uptime: clock.uptime() })
  const options = { settings: () => SETTINGS_HERE, plans: () => plans, machine }
  const another = async (underWay = () => {}): Promise<Server> => {
    const store = remoteStore(slow(backend, underWay), { clock })
    const spending = createSpending({ store, ...options })
    await spending.start()
    const trips: Server['trips'] = async (call) => {
      const before = store.trips()
      await call(spending)
      return store.trips() - before
    }
    return { spending, trips }
  }
  const first = createSpending({ store: backend, ...options })
  await first.createPlan({ id: 'made', tier: 'EXTENDED' })
  await first.link({ plan: 'made', address: '0xc1' })
  await first.createPlan({ id: 'old', tier: 'BASIC' })
  await first.retirePlan({ plan: 'old' })
  for (const _ of [1, 2]) {
    await first.pushBalance(90_000n)
    for (const from of ['0xa1', '0xb1', '0xc1']) await first.record({ ...USER, from, amount: 5n })
    await first.grant({ plan: 'made', amount: 40n })
    clock.advance(days(1))
  }
  await first.record({ ...OTHER, amount: 1n })
  return { clock, another }
}

/** `underWay` is called with each request, before it arrives. */
const slow = (inner: Store, underWay: () => void): Store => ({
  ...inner,
  transact: (step, guess, intent) => {
    underWay()
    return inner.transact(step, guess, intent)
  },
})

/** In the place of memory stands another store, which has no key at hand. */
const isReplaced = process.env['HEADGATE_STORE'] !== undefined

test('a store that has every key at hand is handed no guess, any other is', async ({ skip }) => {
  skip(isReplaced, 'another store stands in the place of memory')
  const guessed = async ({ atHand, ...store }: Store): Promise<number> => {
    let names = 0
    const counting: Store = {
      ...store,
      ...(atHand && { atHand }),
      transact: (step, guess = [], intent) => {
        names += guess.length
        return store.transact(step, guess, intent)
      },
    }
    const spending = createSpending({
      store: counting,
      settings: () => SETTINGS_HERE,
      plans: () => plansOf(),
    })
    const { holdId = '' } = await spending.hold({ ...USER, estimate: 5n })
    await spending.settle({ holdId, amount: 4n })
    return names
  }
  expect(await guessed(memory())).toBe(0)
  expect(await guessed(pretendedCluster(memory()))).toBeGreaterThan(20)
})

/** Moves the calendar, the total and all that everyone shares. */
const disturb = ({ spending }: Server) => spending.record({ ...OTHER, amount: 1n })

let ids = 0
const newId = (): string => `id-${++ids}`

type Verb = (spending: Spending) => Promise<unknown>

/** Verbs that need nothing but an ask. Each is called more than once. */
const VERBS: Readonly<Record<string, Verb>> = {
  start: (s) => s.start(),
  check: (s) => s.check({ ...USER, estimate: 5n }),
  hold: (s) => s.hold({ ...USER, estimate: 5n }),
  'hold under an operation id': (s) => s.hold({ ...USER, estimate: 5n, operationId: newId() }),
  'hold of a configured plan': (s) => s.hold({ ...USER, from: '0xa1', estimate: 5n }),
  'hold that is refused': (s) => s.hold({ ...USER, estimate: 50_000n }),
  record: (s) => s.record({ ...USER, amount: 5n }),
  'record under an operation id': (s) => s.record({ ...USER, amount: 5n, operationId: newId() }),
  grant: (s) => s.grant({ plan: 'made', amount: 5n }),
  'grant under an operation id': (s) => s.grant({ plan: 'made', amount: 5n, operationId: newId() }),
  grants: (s) => s.grants('made'),
  createPlan: (s) => s.createPlan({ id: newId(), tier: 'EXTENDED' }),
  changePlan: (s) => s.changePlan({ plan: 'made', name: newId() }),
  'retirePlan again': (s) => s.retirePlan({ plan: 'old' }),
  activatePlan: (s) => s.activatePlan('made'),
  deactivatePlan: (s) => s.deactivatePlan('basic:0xb1'),
  link: (s) => s.link({ plan: 'made', address: `0xe${++ids}` }),
  'a link that is there': (s) => s.link({ plan: 'made', address: '0xc1' }),
  pushBalance: (s) => s.pushBalance(80_000n),
  resetWindow: (s) => s.resetWindow(),
  standing: (s) => s.standing(USER),
  plan: (s) => s.plan('made'),
}

describe.each(Object.entries(VERBS))('%s', (_, verb) => {
  test('takes one round trip where nothing moved since the last', async () => {
    const here = await (await servers()).another()
    await here.trips(verb)
    expect(await here.trips(verb)).toBe(1)
  })

  test('takes two where another server moved what all share', async () => {
    const { another } = await servers()
    const here = await another()
    await here.trips(verb)
    await disturb(await another())
    expect(await here.trips(verb)).toBe(2)
  })

  test('takes two on a server that has just started', async () => {
    const here = await (await servers()).another()
    expect(await here.trips(verb)).toBeLessThanOrEqual(2)
  })
})

test('unlink takes one round trip, or two where another server made the link', async () => {
  const { another } = await servers()
  const [here, there] = [await another(), await another()]
  const mine = { plan: 'made', address: '0xe1' }
  const theirs = { plan: 'made', address: '0xe2' }
  await here.spending.link(mine)
  expect(await here.trips((s) => s.unlink(mine))).toBe(1)
  await there.spending.link(theirs)
  expect(await here.trips((s) => s.unlink(theirs))).toBe(2)
})

test('voidGrant takes one round trip, or two where another server gave the grant', async () => {
  const { another } = await servers()
  const [here, there] = [await another(), await another()]
  const given = async ({ spending }: typeof here) => {
    const { grantId } = await spending.grant({ plan: 'made', amount: 5n })
    return { plan: 'made', grant: grantId, reason: 'a slip' }
  }
  const mine = await given(here)
  expect(await here.trips((s) => s.voidGrant(mine))).toBe(1)
  const theirs = await given(there)
  expect(await here.trips((s) => s.voidGrant(theirs))).toBe(2)
})

test('a page of open holds takes three round trips, however many servers hold', async () => {
  const { another } = await servers()
  const [here, there] = [await another(), await another()]
  for (const server of [here, there]) await server.spending.hold({ ...USER, estimate: 5n })
  expect(await here.trips((s) => s.holds())).toBe(3)
  expect(await here.trips((s) => s.holds({ plan: 'made' }))).toBe(3)
})

/** Verbs on a hold. */
const ON_HOLDS: Readonly<Record<string, (holdId: string) => Verb>> = {
  capture: (holdId) => (s) => s.capture({ holdId, amount: 2n }),
  'capture under an operation id': (holdId) => (s) =>
    s.capture({ holdId, amount: 2n, operationId: newId() }),
  'capture of another operation': (holdId) => (s) =>
    s.capture({ holdId, amount: 2n, operation: 'FileCreate', mode: 'QUERY' }),
  settle: (holdId) => (s) => s.settle({ holdId, amount: 4n }),
  release: (holdId) => (s) => s.release({ holdId }),
  extend: (holdId) => (s) => s.extend({ holdId, estimate: 1n }),
}

describe.each(Object.entries(ON_HOLDS))('%s', (_, verbOn) => {
  const held = async (ask: Purpose = USER) => {
    const { another, clock } = await servers()
    const here = await another()
    const { holdId = '' } = await here.spending.hold({ ...ask, estimate: 5n })
    return { another, clock, here, verb: verbOn(holdId) }
  }

  test('takes one round trip where nothing moved since the hold', async () => {
    const { here, verb } = await held()
    expect(await here.trips(verb)).toBe(1)
  })

  test('takes two where another server moved what all share', async () => {
    const { another, here, verb } = await held()
    await disturb(await another())
    expect(await here.trips(verb)).toBe(2)
  })

  test('takes two on a server that never saw the hold: its id names its balances', async () => {
    const { another, verb } = await held()
    expect(await (await another()).trips(verb)).toBe(2)
  })

  test('takes two there too for a hold of the window before', async () => {
    const { another, clock, verb } = await held()
    clock.advance(days(1))
    const there = await another()
    await disturb(there)
    expect(await there.trips(verb)).toBeLessThanOrEqual(2)
  })

  test('takes two there too for a hold of a plan that a member is linked to', async () => {
    const { another, verb } = await held({ ...USER, from: '0xc1' })
    expect(await (await another()).trips(verb)).toBe(2)
  })
})

const hold: Verb = (s) => s.hold({ ...USER, estimate: 5n })

describe('a hold', () => {
  test('takes two round trips where its window ends under way', async () => {
    const { another, clock } = await servers()
    // Until half a second before midnight.
    clock.advance(seconds(50_399.5))
    let leap = () => {}
    const here = await another(() => leap())
    await here.trips(hold)
    await disturb(await another())
    leap = () => {
      clock.advance(seconds(1))
      leap = () => {}
    }
    expect(await here.trips(hold)).toBe(2)
    expect((await here.spending.window()).startsAt).toBe(1_767_484_800_000_000)
  })

  test('takes two where another server unlinked its caller', async () => {
    const { another } = await servers()
    const here = await another()
    const call: Verb = (s) => s.hold({ ...USER, from: '0xc1', estimate: 5n })
    await here.trips(call)
    await (await another()).spending.unlink({ plan: 'made', address: '0xc1' })
    expect(await here.trips(call)).toBe(2)
  })

  test('takes two where another server opened a window early', async () => {
    const { another } = await servers()
    const here = await another()
    await here.trips(hold)
    await (await another()).spending.resetWindow()
    expect(await here.trips(hold)).toBe(2)
  })

  test.each<[string, Verb]>([
    ['a hold', hold],
    ['a record', (s) => s.record({ ...USER, amount: 5n })],
    ['a standing', (s) => s.standing(USER)],
  ])(
    '%s takes one more once where another server linked its caller: only the link says to which plan',
    async (_, verb) => {
      const { another } = await servers()
      const here = await another()
      await here.trips(verb)
      await (await another()).spending.link({ plan: 'made', address: USER.from })
      expect(await here.trips(verb)).toBe(3)
      expect(await here.trips(verb)).toBe(1)
    },
  )

  test('takes one more once in a window that others opened early and charged', async () => {
    const { another } = await servers()
    const [here, there] = [await another(), await another()]
    await here.trips(hold)
    await there.spending.resetWindow()
    await disturb(there)
    expect(await here.trips(hold)).toBe(3)
    expect(await here.trips(hold)).toBeLessThanOrEqual(2)
  })
})

test('the first call of a process that was not started takes two: the time says the window', async () => {
  const clock = fakeClock(new Date().toISOString())
  const backend = pretendedCluster(memory({ clock }))
  const options = { settings: () => SETTINGS_HERE, plans: () => plansOf() }
  const first = createSpending({ store: backend, ...options })
  await first.record({ ...USER, amount: 5n })
  const verbs: readonly Verb[] = [
    hold,
    (s) => s.record({ ...USER, amount: 1n }),
    (s) => s.standing(USER),
  ]
  for (const verb of verbs) {
    const store = remoteStore(backend, { clock })
    await verb(createSpending({ store, ...options }))
    expect(store.trips()).toBe(2)
  }
})
