/**
 * A payer to whom anything may happen, and the sums over it: what was charged, what the limits and
 * grants allowed, and what was flagged. It knows answers and entries, and nothing of how they are made.
 */
import fc from 'fast-check'
import { HeadgateError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import { type Instant, instant, millis, seconds } from '../../src/core/time.ts'
import {
  buildPlanCatalog,
  createSpending,
  type LedgerEntry,
  type SpendingCharge,
  type SpendingSettings,
} from '../../src/spending/index.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'

/** The first two are in the file; the last was created, and is changed and retired while Headgate runs. */
const FILED = ['alpha', 'beta'] as const
const PLANS = [...FILED, 'gamma'] as const
type PlanId = (typeof PLANS)[number]

const WINDOW = seconds(60)

const amount = fc.oneof(fc.constantFrom(0n, 100n, 250n, 350n), fc.bigInt({ min: 0n, max: 250n }))
const plan = fc.constantFrom(...PLANS)
const pick = fc.nat(5)
const limit = fc.constantFrom(0n, 100n, 250n, 250n, 600n)

const happening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('hold' as const), plan, amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('capture' as const), pick, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick,
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('record' as const), plan, amount }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reverse' as const),
      pick,
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      plan,
      amount: fc.bigInt({ min: 1n, max: 300n }),
      priority: fc.nat(2),
      lasts: fc.constantFrom(undefined, 10, 50, 200),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('void' as const), plan, pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change' as const), limit }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retire' as const), really: fc.nat(9) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      ms: fc.constantFrom(1_000, 9_000, 21_000, 60_000, 61_000, 150_000, -5_000, -70_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn early' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reload' as const),
      limits: fc.record({ alpha: limit, beta: limit }),
      total: fc.constantFrom(300n, 2_000n, 2_000n),
      share: fc.constantFrom(undefined, 500, 1_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('reading' as const),
      amount: fc.bigInt({ min: 0n, max: 20_000n }),
      ago: fc.nat(90),
    }),
  },
)

export type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

/** As long as it says: by itself fast-check keeps lists short, and short histories prove little. */
export const happenings = fc.array(happening, { minLength: 5, maxLength: 80, size: 'max' })

interface Rules {
  limits: Readonly<Record<PlanId, bigint>>
  total: bigint
  share: number | undefined
  /** Whether gamma is: from then on the members of it have plans that may spend nothing. */
  retired: boolean
}

/** What a window allowed a plan, as far as rules go, and what was charged in it. */
interface PlanWindow {
  /** The highest limit while it was the current one. */
  limit: bigint
  /** The limit of the last charge before it. */
  readonly last: bigint
  used: boolean
  charged: bigint
  flagged: bigint
}

export interface Sums {
  readonly allowed: bigint
  readonly charged: bigint
}

export const openBooks = (
  openStore: (clock: FakeClock) => Store = (clock) => memory({ clock }),
) => {
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const limits = { alpha: 250n, beta: 100n, gamma: 100n }
  const rules: Rules = { limits, total: 2_000n, share: 500, retired: false }
  const spending = createSpending({
    store: openStore(clock),
    settings: () => settingsOf(rules),
    plans: () => catalogOf(rules),
  })
  const windows: Record<PlanId, Map<Instant, PlanWindow>> = {
    alpha: new Map(),
    beta: new Map(),
    gamma: new Map(),
  }
  const totals = new Map<Instant, { limit: bigint; charged: bigint; flagged: bigint }>()
  const last: Record<PlanId, bigint> = { alpha: 0n, beta: 0n, gamma: 0n }
  const grants = new Map<string, { readonly plan: PlanId; readonly amount: bigint }>()
  const holds: { readonly id: string; readonly plan: PlanId }[] = []
  /** By operation id. */
  const bookings: { readonly id: string; readonly plan: PlanId }[] = []

  /** Which rules are in force in which window. */
  const look = async (): Promise<Instant> => {
    const { startsAt } = await spending.window()
    for (const id of PLANS) {
      const known = windows[id].get(startsAt)
      const found = known ?? { limit: 0n, last: last[id], used: false, charged: 0n, flagged: 0n }
      windows[id].set(startsAt, found)
      if (rules.limits[id] > found.limit) found.limit = rules.limits[id]
    }
    const total = totals.get(startsAt) ?? { limit: 0n, charged: 0n, flagged: 0n }
    totals.set(startsAt, total)
    if (rules.total > total.limit) total.limit = rules.total
    return startsAt
  }

  const use = async (id: PlanId): Promise<void> => {
    const mine = windows[id].get(await look())
    if (mine !== undefined) mine.used = true
    last[id] = rules.limits[id]
  }

  const count = (id: PlanId, answer: SpendingCharge): void => {
    if (answer.replayed === true) return
    const { charged, overage, late, total } = answer
    const at = answer.window?.startsAt ?? instant(0)
    const flagged = late ? charged : overage
    const [mine, all] = [windows[id].get(at), totals.get(at)]
    if (mine === undefined || all === undefined) throw new Error('a window that never was')
    mine.charged += charged
    mine.flagged += flagged
    all.charged += charged
    // What is recorded passes the total without a flag; its answer says that it did.
    const left = total?.remaining ?? 0n
    const past = typeof left === 'bigint' && left < 0n ? (-left < charged ? -left : charged) : 0n
    all.flagged += past > flagged ? past : flagged
  }

  /** Captures and settlements may come too late or twice: refused, they change nothing. */
  const onHold = async (
    picked: number,
    act: (holdId: string) => Promise<SpendingCharge>,
  ): Promise<void> => {
    const hold = holds[picked]
    if (hold === undefined) return
    const answer = await act(hold.id).catch((error: unknown) => {
      if (error instanceof HeadgateError) return undefined
      throw error
    })
    if (answer !== undefined) count(hold.plan, answer)
  }

  let booked = 0
  const newBooking = (payer: PlanId = 'alpha') => {
    booked += 1
    return { id: `booking-${booked}`, plan: payer }
  }

  /** More than is left of it is refused, and changes nothing. */
  const reverse = async (picked: number, part: bigint | undefined): Promise<void> => {
    const booking = bookings[picked]
    if (booking === undefined) return
    const ask = { of: booking.id, amount: part, reason: 'a law' }
    const made = await spending.reverse(ask).catch((error: unknown) => {
      if (error instanceof HeadgateError) return undefined
      throw error
    })
    const at = made?.window?.startsAt
    if (made === undefined || at === undefined) return
    const [mine, all] = [windows[booking.plan].get(at), totals.get(at)]
    if (mine === undefined || all === undefined) throw new Error('a window that never was')
    mine.charged -= made.reversed
    all.charged -= made.reversed
  }

  const created = (async () => {
    await spending.createPlan({ id: 'gamma', tier: 'EXTENDED', limit: limits.gamma })
    await spending.link({ plan: 'gamma', address: ADDRESS.gamma })
  })()

  const isOver = (id: PlanId): boolean => id === 'gamma' && rules.retired

  const give = async (each: Extract<Happening, { do: 'grant' }>): Promise<void> => {
    const { plan: id, amount: given, priority } = each
    if (isOver(id)) return
    const { now } = await spending.overview()
    const expiresAt = each.lasts === undefined ? undefined : instant(now + seconds(each.lasts))
    const ask = { plan: id, amount: given, priority, operationId: newBooking().id }
    const { grantId } = await spending.grant({ ...ask, expiresAt })
    // A retry gives nothing more, whatever it says of the expiry.
    const again = await spending.grant(ask)
    if (again.grantId !== grantId || again.replayed !== true) throw new Error('given twice')
    grants.set(grantId, { plan: id, amount: given })
    return use(id)
  }

  /** Nothing more is taken from it than was spent and pinned by then. */
  const takeBack = async (id: PlanId, picked: number): Promise<void> => {
    const grant = (await spending.grants(id)).filter(({ left }) => left > 0n)[picked]
    if (grant === undefined) return
    const { voided } = await spending.voidGrant({ plan: id, grant: grant.id, reason: 'a law' })
    if (voided !== grant.left) throw new Error('more or less than was left')
    grants.set(grant.id, { plan: id, amount: grant.amount - voided })
    return use(id)
  }

  const happen = async (each: Happening): Promise<void> => {
    switch (each.do) {
      case 'hold': {
        const { id: operationId } = newBooking(each.plan)
        const ask = { from: ADDRESS[each.plan], estimate: each.amount, operationId }
        const held = await spending.hold(ask)
        const { holdId } = held
        if (isOver(each.plan) && held.plan?.id === each.plan) throw new Error('a retired plan pays')
        if (holdId === undefined || isOver(each.plan)) return
        holds.unshift({ id: holdId, plan: each.plan })
        bookings.unshift({ id: operationId, plan: each.plan })
        return use(each.plan)
      }
      case 'capture':
        return onHold(each.pick, async (holdId) => {
          const { id, plan: payer } = newBooking(holds[each.pick]?.plan)
          const answer = await spending.capture({ holdId, amount: each.amount, operationId: id })
          bookings.unshift({ id, plan: payer })
          return answer
        })
      case 'settle':
        return onHold(each.pick, (holdId) => spending.settle({ holdId, amount: each.amount }))
      case 'release':
        return onHold(each.pick, (holdId) => spending.release({ holdId }))
      case 'record': {
        if (isOver(each.plan)) return
        const { id: operationId, plan: payer } = newBooking(each.plan)
        const money = { from: ADDRESS[payer], amount: each.amount, operationId }
        const answer = await spending.record(money)
        bookings.unshift({ id: operationId, plan: payer })
        await use(payer)
        return count(payer, answer)
      }
      case 'reverse':
        return reverse(each.pick, each.amount)
      case 'grant':
        return give(each)
      case 'void':
        return takeBack(each.plan, each.pick)
      case 'change':
        if (rules.retired) return
        await spending.changePlan({ plan: 'gamma', limit: each.limit })
        rules.limits = { ...rules.limits, gamma: each.limit }
        return
      case 'retire':
        if (each.really > 0) return
        await spending.retirePlan({ plan: 'gamma' })
        rules.retired = true
        return
      case 'clock':
        clock.set(instant(clock() + millis(each.ms)))
        return
      case 'turn early':
        await spending.resetWindow()
        return
      case 'reload':
        Object.assign(rules, {
          limits: { ...rules.limits, ...each.limits },
          total: each.total,
          share: each.share,
        })
        return
      case 'reading':
        await spending.pushBalance(each.amount, instant(clock() - seconds(each.ago)))
        return
      default:
        each satisfies never
    }
  }

  return {
    spending,
    happen: async (each: Happening): Promise<void> => {
      await created
      await look()
      await happen(each)
      await look()
    },
    /** What is listed and counted, and what it should come to. */
    lists: async () => {
      const { holds: open } = await spending.holds({ limit: 1_000 })
      const { held, tiers } = await spending.overview()
      const standings = await Promise.all(PLANS.map((id) => spending.plan(id)))
      return {
        found: {
          held: open.reduce((sum, hold) => sum + hold.open, 0n),
          plans: tiers.EXTENDED.plans,
          spent: tiers.EXTENDED.spent,
        },
        due: {
          held,
          plans: standings.filter(({ spent }) => spent > 0n).length,
          spent: standings.reduce((sum, { spent }) => sum + spent, 0n),
        },
      }
    },
    /** Of every window, of every plan, of all windows of a plan together, and of every grant. */
    sums: async (): Promise<Readonly<Record<string, Sums>>> => {
      const found: Record<string, Sums> = {}
      for (const [start, { limit: most, charged, flagged }] of totals) {
        found[`total ${start}`] = { allowed: most + flagged, charged }
      }
      for (const id of PLANS) {
        const entries = await historyOf(spending, id)
        const rolled = rolledIn(entries)
        const drawn = drawnIn(entries)
        const all = { allowed: 0n, charged: 0n }
        for (const [start, each] of windows[id]) {
          // One that was left out counts at the limit of the last charge: no entry says another.
          const most = each.used || each.last < each.limit ? each.limit : each.last
          const { charged, flagged } = each
          const beside = (rolled.get(start) ?? 0n) + (drawn.windows.get(start) ?? 0n)
          found[`${id} ${start}`] = { allowed: most + beside + flagged, charged }
          all.allowed += most + flagged
          all.charged += charged
        }
        for (const [grant, given] of grants) {
          if (given.plan !== id) continue
          all.allowed += given.amount
          const charged = drawn.grants.get(grant) ?? 0n
          found[`grant ${grant}`] = { allowed: given.amount, charged }
        }
        found[id] = { ...all, allowed: all.allowed + leftOut(entries, windows[id]) }
      }
      return found
    },
  }
}

const ADDRESS: Readonly<Record<PlanId, string>> = { alpha: '0xa1', beta: '0xb1', gamma: '0xc1' }

function settingsOf({ total, share }: Rules): SpendingSettings {
  return {
    payer: '0.0.2',
    unit: { name: 'HBAR', decimals: 8 },
    window: { length: WINDOW, align: 'epoch' },
    total,
    tiers: { BASIC: 0n, EXTENDED: 0n, PRIVILEGED: 0n },
    linkIp: false,
    categories: new Map(),
    holdFor: seconds(20),
    operator: { minBalance: 0n, maxAge: seconds(60), stale: 'ignore' },
    ...(share === undefined ? {} : { rollover: { sharePerMille: share } }),
  }
}

function catalogOf({ limits }: Rules) {
  return buildPlanCatalog(
    FILED.map((id) => ({
      plan: { id, tier: 'EXTENDED', limit: limits[id], active: true, source: 'file' },
      addresses: [ADDRESS[id]],
      ips: [],
    })),
  )
}

async function historyOf(
  spending: ReturnType<typeof createSpending>,
  id: PlanId,
): Promise<readonly LedgerEntry[]> {
  return (await spending.history(id, { limit: 10_000 })).entries
}

const movedTo = ({ moves }: LedgerEntry, pot: string): bigint =>
  moves.reduce((sum, move) => (move.to === pot ? sum + move.amount : sum), 0n)

/** What rollover brought into each window, less what it took out of it for good. */
function rolledIn(entries: readonly LedgerEntry[]): ReadonlyMap<Instant, bigint> {
  const sums = new Map<Instant, bigint>()
  const add = (window: Instant, change: bigint) =>
    sums.set(window, (sums.get(window) ?? 0n) + change)
  for (const entry of entries.filter(({ kind }) => kind === 'rollover')) {
    const carried = movedTo(entry, 'carried')
    add(entry.window, carried)
    if (entry.from !== undefined) add(entry.from, movedTo(entry, 'available') - carried)
  }
  return sums
}

function drawnIn(entries: readonly LedgerEntry[]) {
  const grants = new Map<string, bigint>()
  const windows = new Map<Instant, bigint>()
  for (const { window, draws = [] } of entries) {
    for (const { grant, amount: drawn } of draws) {
      grants.set(grant, (grants.get(grant) ?? 0n) + drawn)
      windows.set(window, (windows.get(window) ?? 0n) + drawn)
    }
  }
  return { grants, windows }
}

/** What came from windows that the clock left out altogether, so that nobody looked at their limit. */
function leftOut(entries: readonly LedgerEntry[], seen: ReadonlyMap<Instant, PlanWindow>): bigint {
  const starts = [...seen.keys()].toSorted((a, b) => a - b)
  return entries.reduce((sum, entry) => {
    if (entry.kind !== 'rollover' || entry.from !== undefined) return sum
    const before = starts.findLast((start) => start < entry.window)
    const skipped = before !== undefined && entry.window - before > WINDOW
    return skipped ? sum + movedTo(entry, 'carried') : sum
  }, 0n)
}
