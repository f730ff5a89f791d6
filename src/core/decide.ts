/** One charge on one bucket, decided by its kind of limit over what the store keeps. */
import { type BudgetLimit, type BudgetState, decideBudget } from './budget.ts'
import {
  decodeBudget,
  decodeGcra,
  decodeStaged,
  encodeBudget,
  encodeGcra,
  encodeStaged,
} from './codec.ts'
import { decideGcra, type GcraLimit, type GcraState } from './gcra.ts'
import type { Amount, Decision, Mode, Outcome, Question } from './limit.ts'
import { decideStaged, type StagedLimit, type StagedState } from './staged.ts'
import type { Key, Value, Write } from './store.ts'
import type { Instant } from './time.ts'

/** The cost comes in the limit's own kind of amount, so that money never meets a double. */
interface ChargeOn<Limit, Cost extends Amount> {
  readonly key: Key
  readonly limit: Limit
  readonly cost: Cost
  readonly mode: Mode
  /** With `refund`: when the charge was made. Without it the refund is undated, an operator's act. */
  readonly chargedAt?: Instant
}

type GcraCharge = ChargeOn<GcraLimit, number>
type StagedCharge = ChargeOn<StagedLimit, number>
type BudgetCharge = ChargeOn<BudgetLimit, bigint>
export type Charge = GcraCharge | StagedCharge | BudgetCharge

export interface Verdict {
  readonly decision: Decision
  /** Absent: the charge leaves its bucket as it is. */
  readonly write?: Write
}

/** Pure: the caller applies the write, or does not. */
export const decide = (charge: Charge, stored: Value | undefined, now: Instant): Verdict => {
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
  { key, limit, cost, mode, chargedAt }: ChargeOn<Limit, Cost>,
  stored: Value | undefined,
  now: Instant,
): Verdict {
  const state = stored === undefined ? undefined : kind.decode(stored)
  const question = chargedAt === undefined ? { now, cost, mode } : { now, cost, mode, chargedAt }
  const { decision, next, expiresAt } = kind.decide(limit, state, question)
  if (next === undefined) return { decision }
  const value = kind.encode(next)
  const write = expiresAt === undefined ? { key, value } : { key, value, expiresAt }
  return { decision, write }
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
