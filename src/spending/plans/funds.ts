/**
 * What a plan has beside its limit: grants as accounts, and in each window what was carried and what
 * grants pay. What all windows together take from a grant never passes its amount.
 */
import {
  type BudgetState,
  endHold,
  NOTHING_SPENT,
  openAt,
  totalHeld,
  withHold,
} from '../../core/budget.ts'
import type { Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { maxAmount, minAmount } from '../amount.ts'
import type { PayerView } from '../flow/step.ts'
import type { Draw } from '../ledger/entry.ts'
import { spendingMistake } from '../mistake.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import type { Allowance } from './plan.ts'

/** Money given to one plan beyond its limit, gone when it expires; what holds have pinned stays theirs. */
export interface Grant extends BudgetState {
  readonly id: string
  readonly amount: bigint
  /** Lower is used first; of equals the one that expires first, then the older. */
  readonly priority: number
  /** Or when it was voided. */
  readonly expiresAt?: Instant | undefined
  /** Over for good: a clock that was fast then, and is set right, does not bring it back. */
  readonly voided?: true | undefined
  /** Why and by whom it was given, as its entry says. */
  readonly reason?: string | undefined
  readonly actor?: string | undefined
}

interface NewGrant extends Pick<Grant, 'amount' | 'expiresAt' | 'reason' | 'actor'> {
  readonly plan: string
  readonly priority?: number | undefined
}

/** Nothing of it is spent or pinned. Throws for one that could never be used. */
export const newGrant = (given: NewGrant, id: string, now: Instant): Grant => {
  const { plan, amount, priority = 0, expiresAt, reason, actor } = given
  const refuse = (rule: string, finding: string) =>
    spendingMistake('GRANT_INVALID', `grant to plan ${plan}`, rule, finding)
  if (amount === 0n) throw refuse('must be more than zero', '0')
  if (!Number.isSafeInteger(priority)) {
    throw refuse('must have a whole number as priority', String(priority))
  }
  if (expiresAt !== undefined && expiresAt <= now) {
    throw refuse('must expire in the future', toTimestamp(expiresAt))
  }
  return { id, amount, priority, expiresAt, spent: 0n, held: [], reason, actor }
}

/** What of a grant may still be taken: nothing once it has expired. */
export const freeIn = (grant: Grant, now: Instant): bigint =>
  grantIsOver(grant, now) ? 0n : maxAmount(0n, grant.amount - grant.spent - totalHeld(grant, now))

export const freeOf = (grants: readonly Grant[], now: Instant): bigint =>
  grants.reduce((sum, grant) => sum + freeIn(grant, now), 0n)

export const grantIsOver = ({ expiresAt, voided }: Grant, now: Instant): boolean =>
  voided === true || (expiresAt !== undefined && expiresAt <= now)

/** In the order of use. The list is kept so. */
export const inOrderOfUse = (grants: readonly Grant[]): readonly Grant[] =>
  grants.toSorted(
    (a, b) => a.priority - b.priority || (a.expiresAt ?? NEVER) - (b.expiresAt ?? NEVER) || 0,
  )

const NEVER = Number.MAX_SAFE_INTEGER

/** Those of which anything is free or pinned: the others are done with, and only the ledger has them. */
export const stillUseful = (grants: readonly Grant[], now: Instant): readonly Grant[] =>
  grants.filter((grant) => freeIn(grant, now) > 0n || totalHeld(grant, now) > 0n)

/** A grant of which anything can still be used. */
export interface GrantStanding
  extends Pick<Grant, 'id' | 'amount' | 'priority' | 'expiresAt' | 'reason' | 'actor'> {
  readonly spent: bigint
  /** What can still be taken from it; nothing of one that has expired or was voided. */
  readonly left: bigint
  /** What open holds keep aside in it. */
  readonly pinned: bigint
}

export const grantStanding = (grant: Grant, now: Instant): GrantStanding => {
  const { held: _, voided: __, ...rest } = grant
  return { ...rest, left: freeIn(grant, now), pinned: totalHeld(grant, now) }
}

export interface Taken {
  readonly grants: readonly Grant[]
  /** How much of which, in the order of use. */
  readonly draws: readonly Draw[]
}

/** Spends what is needed of what is free, or all there is. */
export const drawFrom = (grants: readonly Grant[], needed: bigint, now: Instant): Taken =>
  take(grants, needed, now, (grant, amount) => {
    const { spent, held } = openAt(grant, now)
    return { ...grant, spent: spent + amount, held }
  })

/** Keeps aside what is needed of what is free, until the hold ends. */
export const pinOn = (
  grants: readonly Grant[],
  needed: bigint,
  now: Instant,
  expiresAt: Instant,
): Taken =>
  take(grants, needed, now, (grant, amount) => {
    const { held } = withHold(openAt(grant, now), { expiresAt, amount })
    return { ...grant, held }
  })

/** Ends pins of a hold that is still open: spent, or given back. */
export const unpin = (
  grants: readonly Grant[],
  pins: readonly Draw[],
  hold: { readonly expiresAt: Instant; readonly now: Instant; readonly spend: boolean },
): readonly Grant[] =>
  pins.length === 0
    ? grants
    : grants.map((grant) => {
        const pinned = pins.find((pin) => pin.grant === grant.id)
        if (pinned === undefined) return grant
        const { amount } = pinned
        const { expiresAt, now, spend } = hold
        const { spent, held } = endHold(openAt(grant, now), { expiresAt, amount })
        return { ...grant, spent: spend ? spent + amount : spent, held }
      })

/** The first of them up to an amount, and the rest. */
export const splitPins = (pins: readonly Draw[], amount: bigint) => {
  let missing = amount
  const first: Draw[] = []
  const rest: Draw[] = []
  for (const pin of pins) {
    const part = minAmount(pin.amount, missing)
    missing -= part
    if (part > 0n) first.push({ grant: pin.grant, amount: part })
    if (part < pin.amount) rest.push({ grant: pin.grant, amount: pin.amount - part })
  }
  return { first, rest }
}

export const sumOf = (draws: readonly Draw[]): bigint =>
  draws.reduce((sum, { amount }) => sum + amount, 0n)

function take(
  grants: readonly Grant[],
  needed: bigint,
  now: Instant,
  change: (grant: Grant, amount: bigint) => Grant,
): Taken {
  let missing = needed
  const draws: Draw[] = []
  if (needed <= 0n) return { grants, draws }
  const changed = grants.map((grant) => {
    const amount = minAmount(freeIn(grant, now), missing)
    if (amount <= 0n) return grant
    missing -= amount
    draws.push({ grant: grant.id, amount })
    return change(grant, amount)
  })
  return draws.length === 0 ? { grants, draws } : { grants: changed, draws }
}

/** What a plan has in one window beside its balance. Kept, so that later changes do not rewrite it. */
export interface Terms {
  /** As it was when the plan was last charged in the window. Written down only where there is rollover. */
  readonly limit?: Allowance | undefined
  /** Left over from windows before. */
  readonly carried: bigint
  /** The first of the windows that carried on to each other up to this one. */
  readonly since?: Instant | undefined
  /** Carried on to a later window: gone from this one. */
  readonly passed: bigint
  /** Charged although neither the limit nor grants had it: the next grant pays it. */
  readonly owed: bigint
  /** What of the balance grants pay: spent, and held by pins. */
  readonly granted: BudgetState
}

export const NO_TERMS: Terms = { carried: 0n, passed: 0n, owed: 0n, granted: NOTHING_SPENT }

/** What a plan has in no window in particular. */
export interface Funds {
  /** In the order of use. */
  readonly grants: readonly Grant[]
  /** The last window with a limit written down. */
  readonly last?: { readonly window: Instant; readonly limit: Allowance } | undefined
}

export const NO_FUNDS: Funds = { grants: [] }

export const decodeTerms = (value: string): Terms => readMoney<Terms>(value)

export const writeTerms = (
  { keys }: PayerView,
  window: Instant,
  plan: string,
  terms: Terms,
): Write => ({ key: keys.terms(window, plan), value: writeMoney(terms) })

/** What becomes of the pins of a hold. */
export interface HoldPins {
  /** Spent. */
  readonly taken: readonly Draw[]
  /** Given back. */
  readonly returned: readonly Draw[]
  readonly kept: readonly Draw[]
}

/** The window's own allowance is used before the pins. An expired hold has none: time freed them. */
export function pinsOf(
  { open, pins }: { readonly open: bigint; readonly pins: readonly Draw[] },
  how: { readonly fromHold: bigint; readonly ends: boolean; readonly expired: boolean },
): HoldPins {
  if (how.expired) return { taken: [], returned: [], kept: [] }
  const own = open - sumOf(pins)
  const { first: taken, rest } = splitPins(pins, maxAmount(0n, how.fromHold - own))
  return how.ends ? { taken, returned: rest, kept: [] } : { taken, returned: [], kept: rest }
}
