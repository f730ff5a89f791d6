/**
 * Budgets: an amount of money for one window, spent at once or held first and settled later.
 *
 * The window is in the key, not in the state: a new window is a new budget. A hold ends by itself
 * when its time comes, so there is no reaper whose delay or absence could matter.
 */
import { assert } from './errors.ts'
import type { Decision, Outcome, Question } from './limit.ts'
import { wholeAmount } from './numbers.ts'
import type { Value } from './store.ts'
import { type Instant, instant, type Span, span, type Wait } from './time.ts'

export interface BudgetLimit {
  readonly kind: 'budget'
  readonly amount: bigint | 'unlimited'
  /** The end of the window, when waiting helps; absent for a budget that never renews. */
  readonly endsAt?: Instant
  /** Hold instead of spend: the charge is kept aside until then, and free again afterwards. */
  readonly holdUntil?: Instant
}

export interface Hold {
  readonly expiresAt: Instant
  readonly amount: bigint
}

/** No expiry: late settlements and recounts still ask for windows that have ended. */
export interface BudgetState {
  readonly spent: bigint
  /** Open holds by expiry, soonest first; holds that end together are one entry. */
  readonly held: readonly Hold[]
}

/** From this many entries on, holds end on the grid, so that the state stays small. */
export const MAX_FINE_HOLDS = 32

/**
 * A power of two, at most a sixteenth of the time a hold has left: with it a budget has some fifty
 * entries at most, however many holds are open, and none ends much sooner than it was meant to.
 */
export const holdGrid = (left: Span): Span =>
  span(2 ** Math.max(0, Math.floor(Math.log2(left / 16))))

export const NOTHING_SPENT: BudgetState = { spent: 0n, held: [] }

export const decideBudget = (
  limit: BudgetLimit,
  stored: BudgetState | undefined,
  question: Question<bigint>,
): Outcome<BudgetState> => {
  const { now, cost, mode } = question
  assert(cost >= 0n, 'a cost is not negative')
  const state = openAt(stored ?? NOTHING_SPENT, now)
  switch (mode) {
    case 'spend':
    case 'try':
      return covers(limit, state, cost)
        ? settle(limit, charged(limit, state, question), question)
        : { decision: refusal(limit, state, question) }
    case 'check':
      return covers(limit, state, cost)
        ? { decision: allow(limit, charged(limit, state, question), question) }
        : { decision: refusal(limit, state, question) }
    case 'record':
      return settle(limit, charged(limit, state, question), question)
    case 'refund': {
      const spent = state.spent > cost ? state.spent - cost : 0n
      return settle(limit, { ...state, spent }, question)
    }
    default:
      return mode satisfies never
  }
}

/** The state without the holds that have ended by then. */
export const openAt = (state: BudgetState, now: Instant): BudgetState => {
  const first = state.held[0]
  if (first === undefined || first.expiresAt > now) return state
  return { ...state, held: state.held.filter((hold) => hold.expiresAt > now) }
}

/** When a hold that should end at `expiresAt` does end, given the holds already open. Never later. */
export const holdExpiry = ({ held }: BudgetState, expiresAt: Instant, now: Instant): Instant => {
  if (held.length < MAX_FINE_HOLDS || held.some((hold) => hold.expiresAt === expiresAt)) {
    return expiresAt
  }
  const grid = holdGrid(span(Math.max(1, expiresAt - now)))
  return instant(Math.floor(expiresAt / grid) * grid)
}

/** Enters a hold among those that are open. */
export const withHold = (state: BudgetState, hold: Hold): BudgetState => {
  const at = state.held.findIndex(({ expiresAt }) => expiresAt >= hold.expiresAt)
  const next = state.held[at]
  if (next === undefined) return { ...state, held: [...state.held, hold] }
  const same = next.expiresAt === hold.expiresAt
  const entry = same ? { ...next, amount: next.amount + hold.amount } : hold
  return { ...state, held: state.held.toSpliced(at, same ? 1 : 0, entry) }
}

/** Ends a hold where it was entered. One that has expired is gone already; that is no mistake. */
export const endHold = (state: BudgetState, { expiresAt, amount }: Hold): BudgetState => {
  const at = state.held.findIndex((hold) => hold.expiresAt === expiresAt)
  const hold = state.held[at]
  if (hold === undefined) return state
  const left = hold.amount - amount
  const rest = left > 0n ? [{ expiresAt, amount: left }] : []
  return { ...state, held: state.held.toSpliced(at, 1, ...rest) }
}

export const totalHeld = ({ held }: BudgetState, now: Instant): bigint =>
  held.reduce((sum, hold) => (hold.expiresAt > now ? sum + hold.amount : sum), 0n)

/** Below zero when more was recorded than the budget had. */
function available({ amount }: BudgetLimit, { spent, held }: BudgetState): bigint | undefined {
  if (amount === 'unlimited') return undefined
  return held.reduce((left, hold) => left - hold.amount, amount - spent)
}

/** An exhausted budget covers nothing, not even a cost of zero. */
function covers(limit: BudgetLimit, state: BudgetState, cost: bigint): boolean {
  const left = available(limit, state)
  return left === undefined || (left > 0n && left >= cost)
}

function charged(
  { holdUntil }: BudgetLimit,
  state: BudgetState,
  { cost, now }: Question<bigint>,
): BudgetState {
  if (holdUntil === undefined) return { ...state, spent: state.spent + cost }
  return withHold(state, { expiresAt: holdExpiry(state, holdUntil, now), amount: cost })
}

function settle(limit: BudgetLimit, next: BudgetState, question: Question<bigint>) {
  return { decision: allow(limit, next, question), next }
}

function allow(limit: BudgetLimit, next: BudgetState, question: Question<bigint>): Decision {
  return { allowed: true, ...outlook(limit, next, question) }
}

function refusal(limit: BudgetLimit, state: BudgetState, question: Question<bigint>): Decision {
  return { allowed: false, reason: 'BUDGET_LIMIT', ...outlook(limit, state, question) }
}

function outlook(limit: BudgetLimit, state: BudgetState, { now, cost }: Question<bigint>) {
  const left = available(limit, state)
  const untouched = state.spent === 0n && state.held.length === 0
  return {
    remaining: left === undefined ? Number.POSITIVE_INFINITY : left > 0n ? left : 0n,
    resetIn: untouched ? span(0) : untilEnd(limit, now),
    retryIn: waitFor(limit, state, cost, now),
  }
}

/** Holds that expire may free enough before the window ends. */
function waitFor(limit: BudgetLimit, state: BudgetState, cost: bigint, now: Instant): Wait {
  if (covers(limit, state, cost)) return span(0)
  for (const [i, hold] of state.held.entries()) {
    if (limit.endsAt !== undefined && hold.expiresAt >= limit.endsAt) break
    const freed = { ...state, held: state.held.slice(i + 1) }
    if (covers(limit, freed, cost)) return span(hold.expiresAt - now)
  }
  return covers(limit, NOTHING_SPENT, cost) ? untilEnd(limit, now) : 'never'
}

function untilEnd({ endsAt }: BudgetLimit, now: Instant): Wait {
  return endsAt === undefined ? 'never' : span(Math.max(0, endsAt - now))
}

/** Money stays decimal text from here to the store: it never passes through a double. */
export const encodeBudget = ({ spent, held }: BudgetState): Value =>
  // Joined at once: grown piece by piece, the text took four times as long.
  [spent, ...held.map((hold) => `${hold.expiresAt}:${hold.amount}`)].join(' ')

/**
 * Cut by hand: a payer's total, with fifty holds in it, is decoded for every charge, and splitting
 * the text took five times as long.
 */
export const decodeBudget = (value: Value): BudgetState => {
  let space = value.indexOf(' ')
  if (space < 0) return { spent: wholeAmount(value), held: [] }
  const spent = wholeAmount(value.slice(0, space))
  const held: Hold[] = []
  while (space >= 0) {
    const colon = value.indexOf(':', space)
    const next = value.indexOf(' ', space + 1)
    const end = next < 0 ? value.length : next
    assert(colon > space && colon < end, () => `a time and an amount: ${JSON.stringify(value)}`)
    held.push({
      expiresAt: instant(digitsOf(value, space + 1, colon)),
      amount: amountOf(value, colon + 1, end),
    })
    space = next
  }
  return { spent, held }
}

/** As many digits as a double counts exactly, whichever they are. */
const EXACT_DIGITS = 15

/** Amounts of up to 15 digits skip the reader of large ones, which takes three times as long. */
function amountOf(value: Value, from: number, to: number): bigint {
  return to - from <= EXACT_DIGITS
    ? BigInt(digitsOf(value, from, to))
    : wholeAmount(value.slice(from, to))
}

function digitsOf(value: Value, from: number, to: number): number {
  let number = 0
  let areDigits = to > from
  for (let i = from; i < to; i++) {
    const digit = value.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) areDigits = false
    number = number * 10 + digit
  }
  assert(areDigits, () => `whole numbers and amounts: ${JSON.stringify(value)}`)
  return number
}
