/** Charges on buckets, decided by their kinds of limit: one alone, or a batch, all or nothing. */
import {
  type BudgetLimit,
  type BudgetState,
  decideBudget,
  decodeBudget,
  encodeBudget,
} from './budget.ts'
import { assert, HeadgateError } from './errors.ts'
import {
  chargeDate,
  decideGcra,
  decodeGcra,
  encodeGcra,
  fillGcra,
  type GcraLimit,
  type GcraState,
} from './gcra.ts'
import type { Amount, ChargeDate, Decision, Mode, Outcome, Question } from './limit.ts'
import {
  decideStaged,
  decodeStaged,
  encodeStaged,
  type StagedLimit,
  type StagedState,
} from './staged.ts'
import type { Key, Value, View, Write } from './store.ts'
import type { Instant, Wait } from './time.ts'

/** The cost comes in the limit's own kind of amount, so that money never meets a double. */
interface ChargeOn<Limit, Cost extends Amount> {
  readonly key: Key
  readonly limit: Limit
  readonly cost: Cost
  readonly mode: Mode
  /** With `refund`: of the charge to give back. Without it the refund is undated, an operator's act. */
  readonly date?: ChargeDate
  /** Decided, charged and told like any other, but it never refuses the batch. */
  readonly shadow?: true
}

/** How a charge takes part in its batch. */
type Part = Pick<Charge, 'mode' | 'shadow'>

type GcraCharge = ChargeOn<GcraLimit, number>
type StagedCharge = ChargeOn<StagedLimit, number>
type BudgetCharge = ChargeOn<BudgetLimit, bigint>
export type Charge = GcraCharge | StagedCharge | BudgetCharge

export interface BatchVerdict<Kept> {
  /** The strictest of the charges that have a say. */
  readonly decision: Decision
  /** One for each charge, in order. */
  readonly decisions: readonly Decision[]
  /** Which charges were refused and made the batch refused, by position. */
  readonly violated: readonly number[]
  /** What is to be kept for each charge, in order; undefined leaves its bucket as it is. */
  readonly kept: readonly (Kept | undefined)[]
}

export type BatchErrorCode = 'BUCKET_TWICE'

/**
 * A batch over what a store shows. Each key is read and decoded once, and encoded once if it
 * changes. The same bucket twice is a mistake.
 */
export const decideAll = (charges: readonly Charge[], view: View): BatchVerdict<Write> => {
  const keys = charges.map((charge) => charge.key)
  refuseTwice(keys)
  const stored = view.read(...keys)
  const { now } = view
  const outcomes = charges.map((charge, i) => decide(charge, stored[i], now))
  return allOrNothing(charges, outcomes)
}

/** Fills a token bucket, whatever was charged; undefined if there is nothing to fill. */
export const fillBucket = (key: Key, view: View): Write | undefined => {
  const [stored] = view.read(key)
  if (stored === undefined) return undefined
  const full = fillGcra(decodeGcra(stored), view.now)
  return full && { key, value: encodeGcra(full.next), expiresAt: full.expiresAt }
}

/** The date of the charge that wrote this value to a token bucket, for giving it back. */
export const dateOf = ({ value }: Write): ChargeDate | undefined =>
  value === undefined ? undefined : chargeDate(decodeGcra(value))

/** One decision, and what it would have the bucket keep. */
export interface Decided<Kept> {
  readonly decision: Decision
  /** Absent: the charge leaves its bucket as it is. */
  readonly next?: Kept
}

/**
 * One refused `spend` or `check` refuses the batch, and then nothing is charged. A `try` has no
 * say, nor has a shadow charge: both are charged if they fit and the others allow it. `record` and `refund` cannot refuse.
 * What a refused charge keeps is no charge: it only restates its bucket under a changed limit.
 */
export const allOrNothing = <Kept>(
  charges: readonly Part[],
  outcomes: readonly Decided<Kept>[],
): BatchVerdict<Kept> => {
  const violated: number[] = []
  let worst: Decision | undefined
  let worstOfVoters: Decision | undefined
  outcomes.forEach(({ decision }, i) => {
    worst = worst === undefined ? decision : strictest(worst, decision)
    const charge = charges[i]
    if (charge === undefined || !hasSay(charge)) return
    worstOfVoters = worstOfVoters === undefined ? decision : strictest(worstOfVoters, decision)
    if (!decision.allowed) violated.push(i)
  })
  const binding = worstOfVoters ?? worst
  assert(binding !== undefined, 'a batch has at least one charge')
  const allowed = violated.length === 0
  return {
    decision: allowed ? asAllowed(binding) : binding,
    decisions: outcomes.map(({ decision }) => decision),
    violated,
    kept: outcomes.map(({ decision, next }) => (allowed || !decision.allowed ? next : undefined)),
  }
}

/** Which of two decisions binds: a refusal, then the longer wait, then the fewer remaining, then `b`. */
export const strictest = (a: Decision, b: Decision): Decision => {
  if (a.allowed !== b.allowed) return a.allowed ? b : a
  const waits = asNumber(a.retryIn) - asNumber(b.retryIn) || 0
  if (waits !== 0) return waits > 0 ? a : b
  return a.remaining < b.remaining ? a : b
}

function hasSay({ mode, shadow }: Part): boolean {
  return (mode === 'spend' || mode === 'check') && shadow !== true
}

/** Where no charge has a say the batch is allowed, whatever came of them. */
function asAllowed(decision: Decision): Decision {
  if (decision.allowed) return decision
  const { remaining, resetIn, retryIn } = decision
  return { allowed: true, remaining, resetIn, retryIn }
}

function asNumber(wait: Wait): number {
  return wait === 'never' ? Number.POSITIVE_INFINITY : wait
}

/** One charge over the text that its bucket holds. Pure: the caller applies the write, or does not. */
function decide(charge: Charge, stored: Value | undefined, now: Instant): Decided<Write> {
  if (isGcra(charge)) return run(gcra, charge, stored, now)
  if (isStaged(charge)) return run(staged, charge, stored, now)
  if (isBudget(charge)) return run(budget, charge, stored, now)
  return charge satisfies never
}

interface Kind<Limit, State, Cost extends Amount> {
  decide(limit: Limit, state: State | undefined, question: Question<Cost>): Outcome<State>
  encode(state: State): Value
  decode(value: Value): State
}

const gcra: Kind<GcraLimit, GcraState, number> = {
  decide: decideGcra,
  encode: encodeGcra,
  decode: decodeGcra,
}

const staged: Kind<StagedLimit, StagedState, number> = {
  decide: decideStaged,
  encode: encodeStaged,
  decode: decodeStaged,
}

const budget: Kind<BudgetLimit, BudgetState, bigint> = {
  decide: decideBudget,
  encode: encodeBudget,
  decode: decodeBudget,
}

function run<Limit, State, Cost extends Amount>(
  kind: Kind<Limit, State, Cost>,
  { key, limit, cost, mode, date }: ChargeOn<Limit, Cost>,
  stored: Value | undefined,
  now: Instant,
): Decided<Write> {
  const state = stored === undefined ? undefined : kind.decode(stored)
  const question = date === undefined ? { now, cost, mode } : { now, cost, mode, date }
  const { decision, next, expiresAt } = kind.decide(limit, state, question)
  if (next === undefined) return { decision }
  const value = kind.encode(next)
  return { decision, next: expiresAt === undefined ? { key, value } : { key, value, expiresAt } }
}

function isGcra(charge: Charge): charge is GcraCharge {
  return charge.limit.kind === 'gcra'
}

function isStaged(charge: Charge): charge is StagedCharge {
  return charge.limit.kind === 'staged'
}

function isBudget(charge: Charge): charge is BudgetCharge {
  return charge.limit.kind === 'budget'
}

/** A batch names each bucket once. */
export function refuseTwice(keys: readonly Key[]): void {
  if (keys.length < 2) return
  const seen = new Set<Key>()
  for (const key of keys) {
    if (seen.has(key)) {
      throw new HeadgateError<BatchErrorCode>({
        code: 'BUCKET_TWICE',
        thing: `bucket ${key}`,
        rule: 'may be charged once in a batch; add the costs up instead',
      })
    }
    seen.add(key)
  }
}
