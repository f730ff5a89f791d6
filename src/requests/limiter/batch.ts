/** What the verbs make of charges over one view: spent, given back or filled. Pure. */
import {
  allOrNothing,
  type BatchVerdict,
  dateOf,
  decideAll,
  fillBucket,
} from '../../core/decide.ts'
import { emissionInterval, type GcraLimit } from '../../core/gcra.ts'
import type { ChargeDate, Decision } from '../../core/limit.ts'
import type { PlainSpend, View, Write } from '../../core/store.ts'
import { type Answer, type BucketCharge, toAnswer } from './charge.ts'

export interface BatchResult {
  readonly charges: readonly BucketCharge[]
  /** Undefined where no limit is in force. */
  readonly verdict: BatchVerdict<Write> | undefined
  readonly answer: Answer
  readonly writes: readonly Write[]
}

/** Spends, checks and tries: charged all or nothing. */
export const charge = (charges: readonly BucketCharge[], view: View): BatchResult => {
  const limited = charges.every(isLimited) ? charges : charges.filter(isLimited)
  const verdict = limited.length === 0 ? undefined : decideAll(limited, view)
  const writes = verdict?.kept.filter((write) => write !== undefined) ?? []
  return { charges, verdict, answer: toAnswer(charges, verdict), writes }
}

/** The spends of a batch that does nothing else; undefined if it does, or would be refused as a mistake. */
export const plainSpends = (
  charges: readonly BucketCharge[],
): readonly PlainSpend[] | undefined => {
  const spends = new Map<string, PlainSpend>()
  for (const { key, limit, cost, mode, shadow } of charges) {
    if (limit === undefined) continue
    if (mode !== 'spend' || shadow === true || spends.has(key)) return undefined
    spends.set(key, { key, cost, burst: limit.burst, interval: emissionInterval(limit) })
  }
  return spends.size === 0 ? undefined : [...spends.values()]
}

/** Gives back, dated where it is known when the charge was made. Allowed if anything was. */
export const giveBack = (charges: readonly BucketCharge[], view: View): BatchResult => {
  const { answer, ...rest } = charge(charges, view)
  return { ...rest, answer: nothingReturned(answer, rest.charges) }
}

/** Refuses where no limit in force had anything to return. */
export const nothingReturned = (answer: Answer, charges: readonly BucketCharge[]): Answer => {
  const limited = answer.charges.filter((_, i) => charges[i]?.limit !== undefined)
  if (limited.length === 0 || limited.some(({ allowed }) => allowed)) return answer
  return { ...answer, allowed: false, reason: 'NOTHING_TO_RETURN' }
}

/** Forgets what was charged: every bucket is full afterwards. */
export const clear = (charges: readonly BucketCharge[], view: View): BatchResult => {
  const forgotten: View = { now: view.now, read: (...keys) => keys.map(() => undefined) }
  const looks = charges.map((each) => ({ ...each, cost: 0, mode: 'check' as const }))
  const { verdict, answer } = charge(looks, forgotten)
  const fills = charges.map(({ key }) => fillBucket(key, view))
  return { charges: looks, verdict, answer, writes: fills.filter((write) => write !== undefined) }
}

/** Of each charge what its refund needs; undefined where nothing was charged. */
export const datesOf = ({
  charges,
  answer,
  writes,
}: Omit<BatchResult, 'verdict'>): readonly (ChargeDate | undefined)[] => {
  if (!answer.allowed) return []
  const written = new Map(writes.map((write) => [write.key, write]))
  return charges.map(({ key, cost }, i) => {
    const write = cost > 0 && answer.charges[i]?.allowed ? written.get(key) : undefined
    return write && dateOf(write)
  })
}

/** One for each charge, in order; undefined where no limit was in force. */
export const decisionsOf = ({
  charges,
  verdict,
}: Pick<BatchResult, 'charges' | 'verdict'>): readonly (Decision | undefined)[] => {
  let position = 0
  return charges.map(({ limit }) =>
    limit === undefined ? undefined : verdict?.decisions[position++],
  )
}

/** The answer to charges that were decided one by one, or before; undefined where no limit was in force. */
export const retoldAnswer = (
  charges: readonly BucketCharge[],
  decisions: readonly (Decision | undefined)[],
): Answer => {
  const limited = charges.filter((_, i) => decisions[i] !== undefined)
  if (limited.length === 0) return toAnswer(charges, undefined)
  const outcomes = decisions.flatMap((decision) => (decision === undefined ? [] : [{ decision }]))
  return toAnswer(charges, allOrNothing(limited, outcomes), decisions)
}

/** With the dates of what was charged, one for each charge. */
export const datedAnswer = (
  answer: Answer,
  dates: readonly (ChargeDate | undefined)[],
): Answer => ({
  ...answer,
  charges: answer.charges.map((charge, i) => {
    const date = dates[i]
    return date === undefined ? charge : { ...charge, date }
  }),
})

export const giving = (each: BucketCharge, date: ChargeDate | undefined): BucketCharge =>
  date === undefined ? { ...each, mode: 'refund' } : { ...each, mode: 'refund', date }

/** Where no limit is in force there is nothing to charge. */
function isLimited(charge: BucketCharge): charge is BucketCharge & { readonly limit: GcraLimit } {
  return charge.limit !== undefined
}
