/** What calls of several processes may come to, if they came one after another: by the rules of `core`. */
import { isDeepStrictEqual } from 'node:util'
import {
  decideBudget,
  endHold,
  type Hold,
  NOTHING_SPENT,
  totalHeld,
} from '../../src/core/budget.ts'
import { dateOf, decideAll, fillBucket } from '../../src/core/decide.ts'
import type { GcraLimit } from '../../src/core/gcra.ts'
import type { ChargeDate, Decision } from '../../src/core/limit.ts'
import type { Value, View, Write } from '../../src/core/store.ts'
import { after, type Instant, type Span, span, type Wait } from '../../src/core/time.ts'
import type { SequentialModel } from './linearizable.ts'

/** The time that the store showed to the call, which decides. */
export interface StoreTimed {
  readonly now: Instant
}

export interface BucketAsk {
  readonly verb: 'spend' | 'try' | 'check' | 'refund' | 'reset'
  readonly cost: number
  /** Always with `refund`, and then of a spend. */
  readonly operationId?: string
}

/** What the answer of the limiter is compared by. */
export interface BucketTold {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetIn: Wait
  readonly retryIn: Wait
  readonly replayed?: true
  /** Instead of all else: the code of a mistake. */
  readonly code?: string
}

interface Bucket {
  readonly value: Value | undefined
  readonly spends: Readonly<Record<string, { told: BucketTold; date?: ChargeDate; left: number }>>
  readonly refunds: Readonly<Record<string, BucketTold>>
}

const KEY = 'bucket'

/** One bucket, with the operations that it remembers. */
export const bucketModel = (
  limit: GcraLimit,
): SequentialModel<Bucket, BucketAsk & StoreTimed, BucketTold> => {
  const run = (bucket: Bucket, ask: BucketAsk & StoreTimed): { told: BucketTold; next: Bucket } => {
    const view: View = { now: ask.now, read: () => [bucket.value] }
    switch (ask.verb) {
      case 'reset': {
        const told = tellOf(decide(limit, EMPTY_VIEW(ask.now), 'check', 0).decision)
        return { told, next: { ...bucket, value: fillBucket(KEY, view)?.value } }
      }
      case 'refund':
        return refund(limit, bucket, view, ask.operationId ?? '')
      default:
        return spend(limit, bucket, view, ask)
    }
  }
  return {
    initial: { value: undefined, spends: {}, refunds: {} },
    apply: (bucket, { ask, answer }) => {
      const { told, next } = run(bucket, ask)
      return answer === undefined || isSame(told, answer) ? next : undefined
    },
    text: (bucket) => JSON.stringify(bucket),
  }
}

const EMPTY_VIEW = (now: Instant): View => ({ now, read: () => [undefined] })

function spend(limit: GcraLimit, bucket: Bucket, view: View, ask: BucketAsk) {
  const { verb, cost, operationId } = ask
  const known = operationId === undefined ? undefined : bucket.spends[operationId]
  if (known !== undefined) return { told: { ...known.told, replayed: true as const }, next: bucket }
  const mode = verb === 'try' || verb === 'check' ? verb : 'spend'
  const { decision, write } = decide(limit, view, mode, cost)
  const told = tellOf(decision)
  const value = write?.value ?? bucket.value
  if (operationId === undefined || !told.allowed) return { told, next: { ...bucket, value } }
  const kept = { told, left: cost, ...(write && dated(write)) }
  return { told, next: { ...bucket, value, spends: { ...bucket.spends, [operationId]: kept } } }
}

function refund(limit: GcraLimit, bucket: Bucket, view: View, id: string) {
  const [spent, known] = [bucket.spends[id], bucket.refunds[id]]
  if (known !== undefined) return { told: { ...known, replayed: true as const }, next: bucket }
  if (spent === undefined) return { told: UNKNOWN, next: bucket }
  const { decision, write, hasReturned } = decide(limit, view, 'refund', spent.left, spent.date)
  const told = { ...tellOf(decision), allowed: hasReturned }
  if (!hasReturned) return { told, next: bucket }
  const next = {
    value: write?.value ?? bucket.value,
    spends: { ...bucket.spends, [id]: { ...spent, left: 0 } },
    refunds: { ...bucket.refunds, [id]: told },
  }
  return { told, next }
}

const UNKNOWN: BucketTold = {
  allowed: false,
  remaining: 0,
  resetIn: span(0),
  retryIn: span(0),
  code: 'OPERATION_UNKNOWN',
}

const dated = (write: Write): { date?: ChargeDate } => {
  const date = dateOf(write)
  return date === undefined ? {} : { date }
}

function decide(
  limit: GcraLimit,
  view: View,
  mode: 'spend' | 'try' | 'check' | 'refund',
  cost: number,
  date?: ChargeDate,
) {
  const charge = { key: KEY, limit, cost, mode, ...(date && { date }) }
  const { decision, decisions, kept } = decideAll([charge], view)
  return { decision, write: kept[0], hasReturned: decisions[0]?.allowed === true }
}

const tellOf = ({ allowed, remaining, resetIn, retryIn }: Decision): BucketTold => ({
  allowed,
  remaining: Number(remaining),
  resetIn,
  retryIn,
})

const isSame = (told: BucketTold, answer: BucketTold): boolean =>
  told.code === answer.code &&
  (told.code !== undefined ||
    (told.allowed === answer.allowed &&
      told.remaining === answer.remaining &&
      told.resetIn === answer.resetIn &&
      told.retryIn === answer.retryIn &&
      told.replayed === answer.replayed))

/** The hold of a client is known by a name of the client's own: one that was killed never learnt its id. */
export interface BudgetAsk {
  readonly verb: 'hold' | 'settle' | 'release'
  readonly name: string
  readonly amount: number
}

/** What the answer of spending is compared by. */
export interface BudgetTold {
  readonly allowed: boolean
  /** Of the plan, in digits. */
  readonly spent: string
  readonly held: string
}

interface Budget {
  readonly state: typeof NOTHING_SPENT
  readonly holds: Readonly<Record<string, Hold>>
}

/** One plan of `amount`, of which holds of `holdFor` are taken, ended, or left to expire. */
export const budgetModel = (
  amount: bigint,
  holdFor: Span,
): SequentialModel<Budget, BudgetAsk & StoreTimed, BudgetTold> => {
  const hold = ({ state, holds }: Budget, { name, amount: cost, now }: BudgetAsk & StoreTimed) => {
    const expiresAt = after(now, holdFor)
    const limit = { kind: 'budget' as const, amount, holdUntil: expiresAt }
    const question = { now, cost: BigInt(cost), mode: 'spend' as const }
    const { decision, next } = decideBudget(limit, state, question)
    const kept = { expiresAt, amount: BigInt(cost) }
    return {
      isAllowed: decision.allowed,
      next:
        next === undefined ? { state, holds } : { state: next, holds: { ...holds, [name]: kept } },
    }
  }
  const end = ({ state, holds }: Budget, { verb, name, amount: cost }: BudgetAsk & StoreTimed) => {
    const { [name]: held, ...others } = holds
    if (held === undefined) return undefined
    const open = endHold(state, held)
    const spent = open.spent + (verb === 'settle' ? BigInt(cost) : 0n)
    return { isAllowed: true, next: { state: { ...open, spent }, holds: others } }
  }
  return {
    initial: { state: NOTHING_SPENT, holds: {} },
    apply: (budget, { ask, answer }) => {
      const done = ask.verb === 'hold' ? hold(budget, ask) : end(budget, ask)
      if (done === undefined) return undefined
      if (answer === undefined) return done.next
      const { spent } = done.next.state
      const held = totalHeld(done.next.state, ask.now)
      const told = { allowed: done.isAllowed, spent: String(spent), held: String(held) }
      return isDeepStrictEqual(told, answer) ? done.next : undefined
    },
    text: ({ state, holds }) =>
      JSON.stringify([state, holds], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
  }
}
