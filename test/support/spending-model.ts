/**
 * Spending as one would explain it: a list of charges and a list of holds, and sums over both. It
 * is slow, keeps everything, and knows no store; the engine must answer as it does.
 */
import type { SpendingReason } from '../../src/spending/index.ts'

export interface ModelPlan {
  readonly id: string
  readonly limit: bigint
  readonly active: boolean
}

export interface ModelRules {
  readonly total: bigint
  readonly basic: bigint
  readonly ipCeiling: bigint
  readonly operationLimit: bigint
  readonly planOperationLimit: bigint
  readonly plans: readonly ModelPlan[]
  readonly byAddress: Readonly<Record<string, string>>
}

export interface ModelWho {
  readonly from?: string | undefined
  readonly ip?: string | undefined
  readonly operation: string
}

interface Booked {
  readonly window: number
  readonly plan: string | undefined
  readonly ip: string | undefined
  readonly operation: string
}

interface ModelHold extends Booked {
  readonly amount: bigint
  readonly expiresAt: number
  open: bigint
  captured: bigint
  charged: bigint
  final: bigint | undefined
  status: 'open' | 'settled' | 'released'
}

export interface Expected {
  readonly reason: SpendingReason | null
  readonly plan: string | undefined
}

export interface ModelOptions {
  readonly windowLength: number
  readonly holdFor: number
}

export const spendingModel = ({ windowLength, holdFor }: ModelOptions) => {
  const charges: (Booked & { amount: bigint })[] = []
  const holds: ModelHold[] = []
  let seen = 0
  let window: { start: number; end: number } | undefined

  const at = (clock: number) => {
    const now = Math.max(clock, seen)
    if (window !== undefined && now < window.end) return { now, window }
    const start = Math.floor(now / windowLength) * windowLength
    return { now, window: { start, end: start + windowLength } }
  }

  const write = (clock: number) => {
    const moment = at(clock)
    seen = moment.now
    window = moment.window
    return moment
  }

  const sums = (start: number, now: number, of: (booked: Booked) => boolean) => {
    const mine = (booked: Booked) => booked.window === start && of(booked)
    const spent = charges.filter(mine).reduce((sum, { amount }) => sum + amount, 0n)
    const held = holds
      .filter((hold) => mine(hold) && hold.expiresAt > now)
      .reduce((sum, { open }) => sum + open, 0n)
    return { spent, held }
  }

  const resolve = (rules: ModelRules, who: ModelWho): ModelPlan | undefined => {
    const configured = who.from === undefined ? undefined : rules.byAddress[who.from]
    const plan = rules.plans.find(({ id }) => id === configured)
    if (plan !== undefined) return plan
    const name = who.from ?? who.ip
    return name === undefined
      ? undefined
      : { id: `basic:${name}`, limit: rules.basic, active: true }
  }

  const bookedFor = (rules: ModelRules, who: ModelWho, start: number): Booked => {
    const plan = resolve(rules, who)?.id
    const ip = plan?.startsWith('basic:') === true ? who.ip : undefined
    return { window: start, plan, ip, operation: who.operation }
  }

  const admit = (rules: ModelRules, who: ModelWho, estimate: bigint, clock: number): Expected => {
    const { now, window: current } = at(clock)
    const plan = resolve(rules, who)
    const me = bookedFor(rules, who, current.start)
    const covers = (limit: bigint, of: (booked: Booked) => boolean) => {
      const { spent, held } = sums(current.start, now, of)
      const left = limit - spent - held
      return left > 0n && left >= estimate
    }
    const sameOperation = ({ operation }: Booked) => operation === who.operation
    const samePlan = (booked: Booked) => booked.plan === me.plan
    const refuse = (reason: SpendingReason): Expected => ({ reason, plan: plan?.id })
    if (!covers(rules.total, () => true)) return refuse('TOTAL_BUDGET')
    if (!covers(rules.operationLimit, sameOperation)) return refuse('CATEGORY_LIMIT')
    if (plan === undefined) return { reason: null, plan: undefined }
    if (!plan.active) return refuse('PLAN_INACTIVE')
    if (me.ip !== undefined && !covers(rules.ipCeiling, ({ ip }) => ip === me.ip)) {
      return refuse('IP_LIMIT')
    }
    if (!covers(rules.planOperationLimit, (b) => samePlan(b) && sameOperation(b))) {
      return refuse('PLAN_CATEGORY_LIMIT')
    }
    return covers(plan.limit, samePlan) ? { reason: null, plan: plan.id } : refuse('PLAN_LIMIT')
  }

  const settleUp = (hold: ModelHold, now: number, ends: boolean): void => {
    const due = hold.final !== undefined && hold.final > hold.captured ? hold.final : hold.captured
    const spent = due - hold.charged
    if (spent > 0n) charges.push({ ...hold, amount: spent })
    hold.charged = due
    if (hold.expiresAt <= now || ends) hold.open = 0n
    else hold.open = spent > hold.open ? 0n : hold.open - spent
  }

  return {
    admit,
    hold: (rules: ModelRules, who: ModelWho, amount: bigint, clock: number): Expected => {
      const expected = admit(rules, who, amount, clock)
      if (expected.reason !== null) return expected
      const { now, window: current } = write(clock)
      holds.push({
        ...bookedFor(rules, who, current.start),
        amount,
        expiresAt: now + holdFor,
        open: amount,
        captured: 0n,
        charged: 0n,
        final: undefined,
        status: 'open',
      })
      return expected
    },
    record: (rules: ModelRules, who: ModelWho, amount: bigint, clock: number): void => {
      const { window: current } = write(clock)
      charges.push({ ...bookedFor(rules, who, current.start), amount })
    },
    /** Undefined if the hold does not let it. */
    capture: (index: number, amount: bigint, clock: number): ModelHold | undefined => {
      const hold = holds[index]
      if (hold === undefined || hold.status === 'released') return undefined
      const { now } = write(clock)
      hold.captured += amount
      settleUp(hold, now, false)
      return hold
    },
    end: (
      index: number,
      status: 'settled' | 'released',
      final: bigint | undefined,
      clock: number,
    ): ModelHold | undefined => {
      const hold = holds[index]
      if (hold?.status !== 'open') return undefined
      const { now } = write(clock)
      hold.status = status
      hold.final = final
      settleUp(hold, now, true)
      return hold
    },
    holds: (): number => holds.length,
    window: (clock: number) => at(clock).window,
    total: (clock: number) => {
      const { now, window: current } = at(clock)
      return sums(current.start, now, () => true)
    },
    plan: (id: string | undefined, clock: number) => {
      const { now, window: current } = at(clock)
      return sums(current.start, now, ({ plan }) => plan === id)
    },
    spentOn: (operation: string, clock: number): bigint =>
      sums(at(clock).window.start, 0, (booked) => booked.operation === operation).spent,
  }
}

export type SpendingModel = ReturnType<typeof spendingModel>
