/**
 * The laws of spending, over random histories with restarts, two instances, clocks that step back
 * and reloads in between, on a real SQLite file: the engine answers as the plain model does.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import { scratchFileToRemove } from '../../test/support/scratch-file.ts'
import { happenings, openBooks } from '../../test/support/spending-books.ts'
import {
  type ModelRules,
  type ModelWho,
  type SpendingModel,
  spendingModel,
} from '../../test/support/spending-model.ts'
import { HeadgateError } from '../core/errors.ts'
import type { Store } from '../core/store.ts'
import { instant, millis, seconds } from '../core/time.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { pretendedCluster } from '../testing/pretended-cluster.ts'
import { restlessStore } from '../testing/restless-store.ts'
import { createSpending, type Plan, type Spending, type SpendingSettings } from './index.ts'

const START = instant(1_767_225_600_000_000)
const WINDOW = seconds(60)
const HOLD_FOR = seconds(20)

const RULES: readonly ModelRules[] = [
  {
    total: 1_000n,
    basic: 300n,
    ipCeiling: 400n,
    operationLimit: 700n,
    planOperationLimit: 450n,
    plans: [{ id: 'alpha', limit: 500n, active: true }],
    byAddress: { '0xa1': 'alpha', '0xa2': 'alpha' },
  },
  {
    total: 800n,
    basic: 200n,
    ipCeiling: 350n,
    operationLimit: 600n,
    planOperationLimit: 400n,
    plans: [
      { id: 'alpha', limit: 250n, active: true },
      { id: 'beta', limit: 600n, active: true },
    ],
    byAddress: { '0xa1': 'beta', '0xb1': 'alpha' },
  },
  {
    total: 1_200n,
    basic: 300n,
    ipCeiling: 500n,
    operationLimit: 900n,
    planOperationLimit: 800n,
    plans: [{ id: 'alpha', limit: 900n, active: false }],
    byAddress: { '0xa2': 'alpha' },
  },
]

const settingsOf = (rules: ModelRules): SpendingSettings => ({
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: WINDOW, align: 'epoch' },
  total: rules.total,
  tiers: { BASIC: rules.basic, EXTENDED: 0n, PRIVILEGED: 0n },
  ipCeiling: rules.ipCeiling,
  linkIp: false,
  categories: new Map([
    ['FileAppend', rules.operationLimit],
    ['EthereumTransaction', rules.operationLimit],
  ]),
  planCategories: new Map([
    ['FileAppend', rules.planOperationLimit],
    ['EthereumTransaction', rules.planOperationLimit],
  ]),
  holdFor: HOLD_FOR,
  operator: { minBalance: 0n, maxAge: seconds(600), stale: 'ignore' },
})

const catalogOf = ({ plans, byAddress }: ModelRules) => {
  const configured = new Map(
    plans.map(({ id, limit, active }): [string, Plan] => [
      id,
      { id, tier: 'EXTENDED', limit, active, source: 'file' },
    ]),
  )
  return {
    plans: configured,
    byAddress: (address: string) => configured.get(byAddress[address] ?? ''),
    byIp: () => undefined,
  }
}

const who = fc.record({
  from: fc.constantFrom(undefined, '0xa1', '0xa2', '0xb1', '0xc1', '0xc2'),
  ip: fc.constantFrom(undefined, '10.0.0.1', '10.0.0.2'),
  operation: fc.constantFrom('FileAppend', 'EthereumTransaction'),
})
const amount = fc.bigInt({ min: 0n, max: 250n })
const pick = fc.nat(30)

const event = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('hold' as const), who, amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('check' as const), who, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('record' as const), who, amount, again: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('capture' as const),
      pick,
      amount,
      again: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick,
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      ms: fc.constantFrom(1, 5_000, 15_000, 25_000, 61_000, -10_000, -70_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload' as const), rules: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('switch' as const) }) },
)

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never

interface World {
  readonly clock: ReturnType<typeof fakeClock>
  readonly model: SpendingModel
  readonly path: string
  stores: readonly Store[]
  instances: readonly Spending[]
  turn: number
  rules: ModelRules
  readonly holdIds: string[]
  operations: number
}

describe('random histories', () => {
  test('are answered as by the model; balances are the sum of the ledger at every point', async () => {
    const histories = fc.array(event, { minLength: 5, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(), async (events, seed) => {
        await inWorld(seed, async (world) => {
          for (const each of events) await happen(world, each, seed)
          await audit(world)
        })
      }),
      { numRuns: times(25, 1_000) },
    )
  })
})

test('clients that hold at once are granted as many as fit, whichever instance they ask', async () => {
  const sizes = fc.record({
    limit: fc.bigInt({ min: 0n, max: 300n }),
    estimate: fc.bigInt({ min: 1n, max: 120n }),
    clients: fc.integer({ min: 1, max: 24 }),
  })
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), async ({ limit, estimate, clients }, seed) => {
      await inWorld(seed, async (world) => {
        const [rules = raise()] = RULES
        world.rules = { ...rules, basic: limit, ipCeiling: 10_000n }
        const answers = await Promise.all(
          Array.from({ length: clients }, (_, n) =>
            world.instances[n % 2]?.hold({ from: '0xc1', estimate }),
          ),
        )
        const granted = answers.filter((answer) => answer?.allowed === true)
        expect(granted).toHaveLength(Math.min(clients, Number(limit / estimate)))
        await Promise.all(
          granted.map((answer, n) =>
            world.instances[n % 2]?.settle({ holdId: answer?.holdId ?? '', amount: estimate }),
          ),
        )
        const [spending = raise()] = world.instances
        expect(await spending.verify()).toMatchObject({ findings: [] })
        const { plan } = await spending.standing({ from: '0xc1' })
        expect(plan).toMatchObject({ held: 0n, spent: estimate * BigInt(granted.length) })
      })
    }),
    { numRuns: times(15, 300) },
  )
})

test('in every window and over all, no more is charged than limits and grants allow and flags own up to', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, async (events) => {
      const books = openBooks()
      for (const each of events) {
        await books.happen(each)
        if (each.do === 'reverse') await listsAddUp(books)
      }
      const sums = Object.entries(await books.sums())
      expect(sums.filter(([, { charged, allowed }]) => charged > allowed)).toEqual([])
      // No more is ever taken back than was charged. Where replies are lost, charges are replayed and not counted.
      const below = sums.filter(([, { charged }]) => charged < 0n)
      if (process.env['HEADGATE_STORE'] !== 'lossy') expect(below).toEqual([])
      await listsAddUp(books)
      expect(await books.spending.verify()).toMatchObject({ findings: [] })
    }),
    { numRuns: times(150, 8_000) },
  )
})

async function listsAddUp(books: ReturnType<typeof openBooks>): Promise<void> {
  const { found, due } = await books.lists()
  expect(found).toEqual(due)
}

/** Two instances on one file, each behind a store that runs steps more often than it must. */
async function inWorld(seed: number, run: (world: World) => Promise<void>): Promise<void> {
  const { path, remove } = scratchFileToRemove()
  const clock = fakeClock(START)
  const [rules = raise()] = RULES
  const world: World = {
    clock,
    path,
    model: spendingModel({ windowLength: WINDOW, holdFor: HOLD_FOR }),
    stores: [],
    instances: [],
    turn: 0,
    rules,
    holdIds: [],
    operations: 0,
  }
  await restart(world, seed)
  try {
    await run(world)
  } finally {
    await Promise.all(world.stores.map((store) => store.close()))
    remove()
  }
}

async function restart(world: World, seed: number): Promise<void> {
  await Promise.all(world.stores.map((store) => store.close()))
  const { path, clock } = world
  world.stores = [1, 2].map(() => pretendedCluster(sqlite({ path, clock })))
  world.instances = world.stores.map((store) =>
    createSpending({
      store: restlessStore(store, seeded(seed)),
      settings: () => settingsOf(world.rules),
      plans: () => catalogOf(world.rules),
    }),
  )
}

async function happen(world: World, each: Event, seed: number): Promise<void> {
  const { model, clock } = world
  const now = clock()
  const spending = world.instances[world.turn % 2] ?? raise()
  switch (each.do) {
    case 'hold': {
      const expected = model.hold(world.rules, each.who, each.amount, now)
      const operationId = `hold-${world.operations++}`
      const ask = { ...each.who, estimate: each.amount, operationId }
      const answer = await spending.hold(ask)
      expect(answer.reason).toBe(expected.reason)
      if (answer.holdId === undefined) break
      world.holdIds.push(answer.holdId)
      expect(await spending.hold(ask)).toEqual({ ...answer, replayed: true })
      break
    }
    case 'check':
      await checkLaws(world, spending, each.who, each.amount)
      break
    case 'record': {
      model.record(world.rules, each.who, each.amount, now)
      const operationId = `record-${world.operations++}`
      const ask = { ...each.who, amount: each.amount, operationId }
      const charged = await spending.record(ask)
      if (each.again) expect(await spending.record(ask)).toEqual({ ...charged, replayed: true })
      break
    }
    case 'capture': {
      const holdId = world.holdIds[each.pick]
      if (holdId === undefined) break
      const expected = model.capture(each.pick, each.amount, now)
      const operationId = `capture-${world.operations++}`
      const ask = { holdId, amount: each.amount, operationId }
      const code = await codeOf(spending.capture(ask))
      expect(code).toBe(expected === undefined ? 'HOLD_CLOSED' : undefined)
      if (each.again) expect(await codeOf(spending.capture(ask))).toBe(code)
      break
    }
    case 'settle': {
      const holdId = world.holdIds[each.pick]
      if (holdId === undefined) break
      const expected = model.end(each.pick, 'settled', each.amount, now)
      const code = await codeOf(spending.settle({ holdId, amount: each.amount }))
      if (expected !== undefined) expect(code).toBeUndefined()
      else expect([undefined, 'HOLD_CLOSED', 'SETTLEMENT_CONFLICT']).toContain(code)
      break
    }
    case 'release': {
      const holdId = world.holdIds[each.pick]
      if (holdId === undefined) break
      const expected = model.end(each.pick, 'released', undefined, now)
      const code = await codeOf(spending.release({ holdId }))
      if (expected !== undefined) expect(code).toBeUndefined()
      else expect([undefined, 'HOLD_CLOSED']).toContain(code)
      break
    }
    case 'clock':
      clock.set(instant(Math.max(0, now + millis(each.ms))))
      break
    case 'restart':
      await restart(world, seed)
      break
    case 'reload':
      world.rules = RULES[each.rules] ?? raise()
      break
    case 'switch':
      world.turn += 1
      break
    default:
      each satisfies never
  }
  await compare(world)
}

/** A check answers as a hold would; less, and a higher limit, never turn an allow into a refusal. */
async function checkLaws(world: World, spending: Spending, asker: ModelWho, estimate: bigint) {
  const expected = world.model.admit(world.rules, asker, estimate, world.clock())
  const answer = await spending.check({ ...asker, estimate })
  expect(answer.reason).toBe(expected.reason)
  if (!answer.allowed) return
  expect((await spending.check({ ...asker, estimate: estimate / 2n })).allowed).toBe(true)
  const raised = { ...world.rules, total: world.rules.total + 100n, basic: 1_000n }
  const [store = raise()] = world.stores
  const generous = createSpending({
    store,
    settings: () => settingsOf(raised),
    plans: () => catalogOf(raised),
  })
  expect((await generous.check({ ...asker, estimate })).allowed).toBe(true)
}

/** What everyone sees is what the model adds up to: also right after a reload, restart or step back. */
async function compare({ instances, model, clock, rules }: World): Promise<void> {
  const [spending = raise()] = instances
  for (const from of ['0xa1', '0xc1']) {
    const { plan, total, window } = await spending.standing({ from })
    expect(window).toEqual(windowOf(model.window(clock())))
    expect({ spent: total?.spent, held: total?.held }).toEqual(model.total(clock()))
    expect({ spent: plan?.spent, held: plan?.held }).toEqual(model.plan(plan?.id, clock()))
    expect(plan?.id).toBe(rules.byAddress[from] ?? `basic:${from}`)
  }
}

async function audit({ instances, model, clock }: World): Promise<void> {
  const [spending = raise()] = instances
  const { findings } = await spending.verify()
  expect(findings).toEqual([])
  const report = await spending.report()
  const sum = (amounts: object) =>
    Object.values(amounts).reduce((total: bigint, each: bigint) => total + each, 0n)
  const anonymous = model.plan(undefined, clock()).spent
  expect(report.total).toBe(model.total(clock()).spent)
  expect(sum(report.byOperation)).toBe(report.total)
  expect(sum(report.byFamily)).toBe(report.total)
  expect(sum(report.byMode)).toBe(report.total)
  expect(sum(report.byTier) + anonymous).toBe(report.total)
  expect(report.byOperation['FileAppend'] ?? 0n).toBe(model.spentOn('FileAppend', clock()))
}

const windowOf = ({ start, end }: { start: number; end: number }) => ({
  startsAt: start,
  endsAt: end,
})

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call
    return undefined
  } catch (error) {
    if (error instanceof HeadgateError) return error.code
    throw error
  }
}

function raise(): never {
  throw new Error('out of range')
}

/** Repeatable chance for the restless store. */
function seeded(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
