/** A batch of charges, all or nothing, across buckets and kinds of limit. */
import { type Charge, decide, type Verdict } from './decide.ts'
import { assert, HeadgateError } from './errors.ts'
import type { Decision } from './limit.ts'
import type { View, Write } from './store.ts'
import { strictest } from './strictest.ts'

export type BatchErrorCode = 'BUCKET_TWICE'

export interface BatchVerdict {
  /** The strictest of the charges that have a say. */
  readonly decision: Decision
  /** One for each charge, in order. */
  readonly decisions: readonly Decision[]
  /** Which charges were refused and made the batch refused, by position. */
  readonly violated: readonly number[]
  readonly writes: readonly Write[]
}

/**
 * One refused `spend` or `check` refuses the batch, and then nothing is charged. A `try` has no
 * say: it is charged if it fits and the others allow it. `record` and `refund` cannot refuse.
 */
export const decideAll = (charges: readonly Charge[], view: View): BatchVerdict => {
  assert(charges.length > 0, 'a batch has at least one charge')
  const keys = charges.map((charge) => charge.key)
  refuseTwice(keys)
  const stored = view.read(...keys)
  const verdicts = charges.map((charge, i) => decide(charge, stored[i], view.now))
  const decisions = verdicts.map((verdict) => verdict.decision)
  const violated = vetoes(charges, decisions)
  const allowed = violated.length === 0
  return {
    decision: merge(charges, decisions, allowed),
    decisions,
    violated,
    writes: writesOf(verdicts, allowed),
  }
}

function hasSay({ mode }: Charge): boolean {
  return mode === 'spend' || mode === 'check'
}

function vetoes(charges: readonly Charge[], decisions: readonly Decision[]): readonly number[] {
  const positions: number[] = []
  for (const [i, charge] of charges.entries()) {
    if (hasSay(charge) && decisions[i]?.allowed === false) positions.push(i)
  }
  return positions
}

/** What a refused charge writes is no charge: it only restates its bucket under a changed limit. */
function writesOf(verdicts: readonly Verdict[], batchAllowed: boolean): readonly Write[] {
  const writes: Write[] = []
  for (const { decision, write } of verdicts) {
    if (write !== undefined && (batchAllowed || !decision.allowed)) writes.push(write)
  }
  return writes
}

/** Of those that have a say; where none has, of all, and allowed whatever came of them. */
function merge(charges: readonly Charge[], decisions: readonly Decision[], allowed: boolean) {
  const voters = decisions.filter((_, i) => charges[i] !== undefined && hasSay(charges[i]))
  const worst = (voters.length > 0 ? voters : decisions).reduce(strictest)
  if (!allowed || worst.allowed) return worst
  const { remaining, resetIn, retryIn } = worst
  return { allowed: true as const, remaining, resetIn, retryIn }
}

function refuseTwice(keys: readonly string[]): void {
  if (keys.length < 2) return
  const seen = new Set<string>()
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
