/** Plays the scenarios of test/vectors/spending against the engine on a real SQLite file. */
import { HeadgateError, StoreError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import { type Clock, type Instant, instant, millis } from '../../src/core/time.ts'
import {
  buildPlanCatalog,
  createSpending,
  diffPlans,
  type NO_PLANS,
  parseAllowance,
  parseAmount,
  parsePlans,
  type Spending,
  type SpendingAnswer,
  type SpendingCharge,
  type SpendingMode,
  type SpendingSettings,
  type Standings,
} from '../../src/spending/index.ts'
import { type CaptureQueue, openCaptureQueue } from '../../src/spending/operator/capture-queue.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { pretendedCluster } from '../../src/testing/pretended-cluster.ts'

export interface Step {
  readonly op: string
  readonly at?: number
  readonly expect?: object
  readonly steps?: readonly Step[]
  readonly id?: string
  readonly from?: string
  readonly ip?: string
  readonly estimate?: string
  readonly amount?: string
  readonly actual?: string
  readonly key?: string
  readonly operation?: string
  readonly mode?: SpendingMode
  readonly instance?: string
  readonly plan?: string
  readonly expiresAt?: number
  readonly plans?: readonly unknown[]
}

export interface Scenario {
  readonly id: string
  readonly title: string
  readonly clock: { readonly start: string }
  readonly env?: Readonly<Record<string, string>>
  readonly options?: {
    readonly window?: { readonly align: 'epoch' | 'start' }
    readonly basic?: { readonly linkIp: boolean }
    readonly ipLimit?: { readonly limit: string }
    readonly reservations?: { readonly ttlMs: number }
    readonly operator?: {
      readonly minBalance?: string
      readonly maxAgeMs?: number
      readonly onStale?: 'deny'
    }
    readonly categories?: {
      readonly limits?: Readonly<Record<string, string>>
      readonly perPlan?: Readonly<Record<string, string>>
    }
    readonly rollover?: { readonly maxPermille: number }
  }
  readonly config?: { readonly plans: readonly unknown[] }
  readonly steps: readonly Step[]
}

export interface Player {
  play(step: Step): Promise<unknown>
  close(): Promise<void>
}

/** In a file at `path`, unless it is told where else. */
export const openPlayer = (
  scenario: Scenario,
  path: string,
  openStore = (clock: Clock): Store => pretendedCluster(sqlite({ path, clock })),
): Player => {
  const clock = fakeClock(scenario.clock.start)
  const settings = settingsOf(scenario)
  const game: Game = {
    clock,
    started: clock(),
    settings,
    plans: buildPlanCatalog(entriesOf(scenario.config?.plans ?? [])),
    store: openStore(clock),
    down: false,
    holds: new Map(),
    path,
    queue: undefined,
    refusals: {},
  }
  const open = () =>
    createSpending({
      store: failing(game),
      settings: () => settings,
      plans: () => game.plans,
      observe: (event) => {
        if (event.kind !== 'admission' || event.answer.reason === null) return
        game.refusals[event.answer.reason] = (game.refusals[event.answer.reason] ?? 0) + 1
      },
    })
  const instances = new Map<string, Spending>()
  const instance = (name = '') => {
    const known = instances.get(name) ?? open()
    instances.set(name, known)
    return known
  }
  return {
    play: async (step) => {
      if (step.at !== undefined) clock.set(instant(game.started + step.at * 1_000))
      if (step.op === 'restart') {
        await game.store.close()
        game.store = openStore(clock)
        instances.clear()
        return {}
      }
      return playStep(game, instance(step.instance), step)
    },
    close: () => game.store.close(),
  }
}

interface Game {
  readonly clock: FakeClock
  readonly started: Instant
  readonly settings: SpendingSettings
  plans: typeof NO_PLANS
  store: Store
  down: boolean
  /** By the scenario's own ids. */
  readonly holds: Map<string, string>
  readonly path: string
  /** Where expenses wait while the store is down. */
  queue: CaptureQueue | undefined
  readonly refusals: Record<string, number>
}

async function playStep(game: Game, spending: Spending, step: Step): Promise<unknown> {
  try {
    return await act(game, spending, step)
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const code = error.code.replace(/^HOLD_/, 'RESERVATION_')
    return { error: { code } }
  }
}

async function act(game: Game, spending: Spending, step: Step): Promise<unknown> {
  const { from, ip, operation, mode } = step
  const purpose = { from, ip, operation, mode }
  const holdId = () => game.holds.get(step.id ?? '') ?? 'nope'
  switch (step.op) {
    case 'check': {
      const answer = await spending.check({ ...purpose, estimate: amountOf(step.estimate) })
      return { limited: !answer.allowed, degraded: game.down, ...admissionOf(answer) }
    }
    case 'spend':
      return spend(game, spending, step)
    case 'reserve': {
      const estimate = amountOf(step.estimate)
      const answer = await spending.hold({ ...purpose, estimate, operationId: step.id })
      if (answer.holdId !== undefined) game.holds.set(step.id ?? '', answer.holdId)
      return { granted: answer.allowed, ...admissionOf(answer) }
    }
    case 'settle':
      return bookingOf(
        await spending.settle({
          holdId: holdId(),
          ...(step.actual === undefined ? {} : { amount: amountOf(step.actual) }),
        }),
      )
    case 'release':
      return bookingOf(await spending.release({ holdId: holdId() }))
    case 'state':
      return standingsOf(await spending.standing(purpose), true)
    case 'window': {
      const { startsAt, endsAt } = await spending.start()
      const offset = (at: Instant) => (at - game.started) / 1_000
      return { startAt: offset(startsAt), endAt: offset(endsAt) }
    }
    case 'balance':
      return spending.pushBalance(amountOf(step.amount))
    case 'grant': {
      const expiresAt =
        step.expiresAt === undefined ? undefined : instant(game.started + step.expiresAt * 1_000)
      const plan = step.plan ?? ''
      const granted = await spending.grant({ plan, amount: amountOf(step.amount), expiresAt })
      return { plan: planOf(granted.plan) }
    }
    case 'report': {
      const { byOperation, byFamily, byMode, total } = await spending.report()
      return { ...texts({ byOperation, byFamily, byMode }), totalSpent: String(total) }
    }
    case 'metrics':
      return { limited: game.refusals }
    case 'reload': {
      const next = buildPlanCatalog(entriesOf(step.plans ?? []))
      const diff = diffPlans(game.plans.entries, next.entries)
      game.plans = next
      return diff
    }
    case 'storeDown':
      game.down = true
      game.queue = await openCaptureQueue({
        spending,
        path: `${game.path}.queue`,
        clock: game.clock,
      })
      return {}
    case 'storeUp': {
      game.down = false
      await game.queue?.drained()
      const replayed = game.queue?.status().delivered
      await game.queue?.close()
      game.queue = undefined
      return { replayed, ...standingsOf(await spending.standing({}), true) }
    }
    case 'parallel':
      return {
        results: await Promise.all(
          (step.steps ?? []).map((each) => playStep(game, spending, each)),
        ),
      }
    default:
      throw new Error(`no such step: ${step.op}`)
  }
}

async function spend({ queue }: Game, spending: Spending, step: Step): Promise<unknown> {
  const { from, ip, operation, mode, key: operationId } = step
  const ask = { from, ip, operation, mode, amount: amountOf(step.amount), operationId }
  if (queue === undefined) return bookingOf(await spending.record(ask))
  await queue.add({ verb: 'record', ...ask })
  return { journaled: true }
}

const amountOf = (text = '0'): bigint => parseAmount(text, 'amount')

function admissionOf(answer: SpendingAnswer) {
  const { reason, replayed, plan } = answer
  const planCreated = plan?.fresh === true && plan.id.startsWith('basic:')
  return { reason, duplicate: replayed, planCreated, ...standingsOf(answer, false) }
}

function bookingOf(answer: SpendingCharge) {
  const { late, overage, released, replayed } = answer
  return {
    late,
    overage: String(overage),
    released: String(released),
    duplicate: replayed,
    ...standingsOf(answer, false),
  }
}

/** For `state` a BASIC plan of which nothing is kept does not exist. */
function standingsOf({ plan, total }: Standings, hideFresh: boolean) {
  const hidden = hideFresh && plan?.fresh === true && plan.id.startsWith('basic:')
  return {
    plan: plan === null || hidden ? null : planOf(plan),
    totalSpent: String(total?.spent),
    totalReserved: String(total?.held),
    totalRemaining: String(total?.remaining),
  }
}

function planOf({ id, tier, limit, spent, held, remaining }: NonNullable<Standings['plan']>) {
  return { id, tier, ...texts({ limit, spent, reserved: held, remaining }) }
}

/** Amounts as the vectors write them. */
const texts = (value: object): object =>
  JSON.parse(JSON.stringify(value, (_, held) => (typeof held === 'bigint' ? `${held}` : held)))

const entriesOf = (plans: readonly unknown[]) => parsePlans(JSON.stringify(plans), 'plans.json')

function failing(game: Game): Store {
  const down = () =>
    new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must be reachable' })
  return {
    transact: (step, guess) =>
      game.down ? Promise.reject(down()) : game.store.transact(step, guess),
    read: (...args) => game.store.read(...args),
    range: (...args) => game.store.range(...args),
    trim: (...args) => game.store.trim(...args),
    partition: (key) => game.store.partition(key),
    scan: (...args) => game.store.scan(...args),
    close: () => game.store.close(),
  }
}

function settingsOf({ env = {}, options = {} }: Scenario): SpendingSettings {
  const allowance = (name: string) => parseAllowance(env[name] ?? '0', name)
  const table = (limits: Readonly<Record<string, string>> = {}) =>
    new Map(Object.entries(limits).map(([name, limit]) => [name, parseAllowance(limit, name)]))
  const { operator, rollover, ipLimit } = options
  return {
    payer: '0.0.2',
    unit: { name: 'HBAR', decimals: 8 },
    window: {
      length: millis(Number(env['HBAR_RATE_LIMIT_DURATION'] ?? 86_400_000)),
      align: options.window?.align ?? 'epoch',
    },
    total: allowance('HBAR_RATE_LIMIT_TINYBAR'),
    tiers: {
      BASIC: allowance('HBAR_RATE_LIMIT_BASIC'),
      EXTENDED: allowance('HBAR_RATE_LIMIT_EXTENDED'),
      PRIVILEGED: allowance('HBAR_RATE_LIMIT_PRIVILEGED'),
    },
    ...(ipLimit === undefined ? {} : { ipCeiling: parseAllowance(ipLimit.limit, 'ipLimit') }),
    linkIp: options.basic?.linkIp ?? false,
    categories: table(options.categories?.limits),
    planCategories: table(options.categories?.perPlan),
    holdFor: millis(options.reservations?.ttlMs ?? 180_000),
    operator: {
      minBalance: amountOf(operator?.minBalance),
      maxAge: millis(operator?.maxAgeMs ?? 600_000),
      stale: operator?.onStale ?? 'ignore',
    },
    ...(rollover === undefined ? {} : { rollover: { sharePerMille: rollover.maxPermille } }),
  }
}
