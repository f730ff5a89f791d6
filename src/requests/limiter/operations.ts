/**
 * Operation ids of the limiter. What is kept of an admitted call: what cannot be told again from the
 * catalog, charge by charge; and, so that it can be given back, when each was made. Bounded for each
 * scope, in number and in size: the oldest answer of a full shard is forgotten before its time.
 */
import { HeadgateError } from '../../core/errors.ts'
import type { ChargeDate, Decision, Mode, RefusalReason } from '../../core/limit.ts'
import { nameOf } from '../../core/names.ts'
import {
  amend,
  checkOperationId,
  type Operation,
  type OperationErrorCode,
  recall,
} from '../../core/once.ts'
import { type Shard, shardFor } from '../../core/shards.ts'
import type { Key, Value, View, Write } from '../../core/store.ts'
import { after, type Instant, type Span, type Wait } from '../../core/time.ts'
import { digestText } from '../../lib/digest.ts'
import {
  type BatchResult,
  datedAnswer,
  datesOf,
  decisionsOf,
  giving,
  retoldAnswer,
} from './batch.ts'
import {
  type Answer,
  type Ask,
  type Batch,
  type BucketCharge,
  type BucketOf,
  chargeOn,
} from './charge.ts'

export type OperationVerb = 'spend' | 'refund' | 'reset'

export interface OperationPolicy {
  readonly rememberFor: Span
  /** How many operations one scope may have remembered, rounded up to whole shards of 64. */
  readonly perScope: number
}

/** What was asked of one bucket, so that the bucket can be found again. */
export interface ToldAsk {
  readonly asked: Ask
  readonly cost: number
  readonly mode: Mode
}

/** What came of it. */
export interface ToldOutcome {
  /** Undefined where no limit was in force. */
  readonly decision: Decision | undefined
  readonly date: ChargeDate | undefined
  /** What can still be given back. Undefined where nothing was charged: a check, a try that did not fit. */
  readonly left: number | undefined
}

export interface Told extends ToldAsk, ToldOutcome {}

/** A call with an operation id, as it is answered and as it is kept. */
export interface Remembered {
  readonly answer: Answer
  readonly told: readonly Told[]
}

export type RefundErrorCode = 'OPERATION_UNKNOWN' | 'OPERATION_CHARGES'

/** Where an operation is kept. */
export interface OperationNames {
  readonly key: Key
  readonly shard: Shard
  /** Of scope, verb and id: what its legs are called in other partitions. */
  readonly hash: string
}

/** All of one shard lie in one partition. Ids of different scopes never meet. */
export const operationNames = (
  verb: OperationVerb,
  id: string,
  scope: string,
  { perScope }: OperationPolicy,
): OperationNames => {
  const hash = hashOf(scope, verb, checkOperationId(id))
  const { number, most } = shardFor(hash, perScope)
  const tag = `${number}/${scope}`
  const keyOf = (entry: string): Key => nameOf('operations', tag, entry)
  const shard = { key: nameOf('operations', tag), most, entry: hash, keyOf }
  return { key: keyOf(hash), shard, hash }
}

/** 128 bits: as a list, not joined, so that scope `a` and id `b/c` never meet `a/b` and `c`. */
export const hashOf = (...parts: readonly string[]): string =>
  digestText(JSON.stringify(parts)).slice(0, 22)

/** The operation of a call whose keys all lie in one partition. `retell` labels what is kept. */
export const operationOf = (
  verb: OperationVerb,
  id: string,
  { charges }: Batch,
  { key, shard }: OperationNames,
  { rememberFor }: OperationPolicy,
  retell: (told: readonly Told[]) => Answer,
): ((now: Instant) => Operation<Remembered>) => {
  const digest = digestOf(charges)
  return (now) => ({
    key,
    digest,
    shard,
    expiresAt: after(now, rememberFor),
    counts: ({ answer }) => answer.allowed,
    encode: ({ told }) => encodeTold(told),
    decode: (value) => {
      const told = decodeTold(value)
      return { told, answer: retell(told) }
    },
    reused: () => reusedId(verb, id),
  })
}

export const reusedId = (verb: OperationVerb, id: string) =>
  new HeadgateError<OperationErrorCode>({
    code: 'OPERATION_ID_REUSED',
    thing: `operationId ${id}`,
    rule: `must name one question only; this id was used for another ${verb}`,
  })

export const unknownOperation = (id: string) =>
  new HeadgateError<RefundErrorCode>({
    code: 'OPERATION_UNKNOWN',
    thing: `operationId ${id}`,
    rule: 'must name a spend that was allowed and is still remembered; a refund without it is undated',
  })

export const rememberedSpend = (view: View, id: string, key: Key): readonly Told[] => {
  const value = recall(view, key)
  if (value === undefined) throw unknownOperation(id)
  return decodeTold(value)
}

/**
 * What of a spend has been given back is no longer charged by it. Told in the spend itself, as the
 * refund may be forgotten first: where the clock has stepped back between the two.
 */
export const withoutRefunded = (
  view: View,
  key: Key,
  told: readonly Told[],
  back: readonly BucketCharge[],
): Write => amend(view, key, encodeTold(lessRefunded(told, back)))

export const lessRefunded = <Each extends ToldAsk & ToldOutcome>(
  told: readonly Each[],
  back: readonly BucketCharge[],
): readonly Each[] =>
  told.map((each) => {
    const refund = back.find(({ bucket }) => isOn(each, bucket))
    return refund === undefined ? each : { ...each, left: (each.left ?? 0) - refund.cost }
  })

/** A remembered ask names its bucket by limit and canonical id. */
export const isOn = ({ asked }: ToldAsk, bucket: BucketCharge['bucket']): boolean =>
  asked.limit === bucket.definition.name && asked.id === bucket.id

/** What is to be kept of a batch that was decided. */
export const tellOf = (result: BatchResult, verb: OperationVerb): readonly Told[] => {
  const { charges, answer } = result
  const dates = verb === 'spend' ? datesOf(result) : []
  const decisions = decisionsOf(result)
  return charges.map((charge, i) => {
    const { limit, cost, mode } = charge
    const charged = verb === 'spend' && mode !== 'check' && limit !== undefined
    const left = charged && answer.charges[i]?.allowed === true ? cost : undefined
    return { ...askOf(charge), decision: decisions[i], date: dates[i], left }
  })
}

/** Subjects only where they set the rate: a refund must find the limit that was charged. */
export const askOf = ({ asked: { subjects }, bucket, cost, mode }: BucketCharge): ToldAsk => {
  const { definition, id } = bucket
  const asked = { limit: definition.name, id }
  if (definition.rateFrom !== 'subject' || subjects === undefined) return { asked, cost, mode }
  return { asked: { ...asked, subjects }, cost, mode }
}

/** The charges of a remembered call, under the limits that are in force today. */
export const chargesOf = (bucketOf: BucketOf, told: readonly ToldAsk[]): readonly BucketCharge[] =>
  told.map(({ asked, cost, mode }) => chargeOn(asked, bucketOf(asked), cost, mode))

/** The answer to a remembered call. Its numbers are kept, its labels are those of today's catalog. */
export const retell = (
  bucketOf: BucketOf,
  told: readonly Told[],
  dated: boolean | undefined,
): Answer => {
  const decisions = told.map(({ decision }) => decision)
  const answer = retoldAnswer(chargesOf(bucketOf, told), decisions)
  return dated
    ? datedAnswer(
        answer,
        told.map(({ date }) => date),
      )
    : answer
}

/**
 * The charges that undo a remembered spend: all of it, or those of it that are named. At today's
 * limits: what was charged under a limit that has changed since is not given back.
 */
export const undoing = (
  bucketOf: BucketOf,
  told: readonly Told[],
  named: readonly BucketCharge[] | undefined,
): readonly BucketCharge[] => {
  const charged = told.filter(({ left }) => left !== undefined)
  const charges =
    named ?? charged.map(({ asked, left = 0 }) => chargeOn(asked, bucketOf(asked), left, 'refund'))
  return charges.map((each) => {
    const { bucket, cost } = each
    const found = charged.find((one) => isOn(one, bucket))
    const held = found?.left ?? 0
    if (cost <= held) return giving(each, found?.date)
    throw new HeadgateError<RefundErrorCode>({
      code: 'OPERATION_CHARGES',
      thing: `cost for ${bucket.definition.name} ${bucket.id}`,
      rule: `must be at most the ${held} that the operation charged`,
      finding: String(cost),
    })
  })
}

/** Over what was asked, field by field in a fixed order: how the JSON was written does not matter. */
export const digestOf = (charges: Batch['charges'] = []): string => {
  const question = charges.map(({ limit, id, parts, cost = 1, mode, subjects }) => [
    limit,
    id,
    parts?.regId,
    parts?.ip,
    parts?.identifier && [parts.identifier.type, parts.identifier.value],
    parts?.identifiers?.map(({ type, value }) => [type, value]),
    cost,
    mode,
    subjects,
  ])
  return digestText(JSON.stringify(question))
}

/** Lists instead of fields: the names would be most of what is kept. */
type AskRow = readonly [string, string, number, Mode, (readonly string[])?]
/** Allowed is 1, a refusal its reason, no limit 0. JSON has no infinity, and `never` is null. */
type OutcomeRow = readonly [
  1 | 0 | RefusalReason,
  number,
  Wait | null,
  Wait | null,
  number | null,
  ...number[],
]

export const encodeAsks = (told: readonly ToldAsk[]): Value =>
  JSON.stringify(
    told.map(({ asked: { limit, id = '', subjects }, cost, mode }): AskRow => {
      const row = [limit, id, cost, mode] as const
      return subjects === undefined ? row : [...row, subjects]
    }),
  )

export const decodeAsks = (value: Value): readonly ToldAsk[] => asksFrom(JSON.parse(value))

function asksFrom(rows: readonly AskRow[]): readonly ToldAsk[] {
  return rows.map(([limit, id, cost, mode, subjects]) => {
    const asked = subjects === undefined ? { limit, id } : { limit, id, subjects }
    return { asked, cost, mode }
  })
}

const encodeOutcomes = (told: readonly ToldOutcome[]): Value =>
  JSON.stringify(
    told.map(({ decision, date, left = null }): OutcomeRow | 0 => {
      if (decision === undefined) return 0
      const { allowed, remaining, retryIn, resetIn } = decision
      const waits = [toNull(retryIn), toNull(resetIn)] as const
      const dates = date === undefined ? [] : [date.at, date.since, date.interval]
      return [allowed ? 1 : decision.reason, Number(remaining), ...waits, left, ...dates]
    }),
  )

const decodeOutcomes = (value: Value): readonly ToldOutcome[] =>
  (JSON.parse(value) as readonly (OutcomeRow | 0)[]).map((row) => {
    if (row === 0) return { decision: undefined, date: undefined, left: undefined }
    const [outcome, remaining, retryIn, resetIn, left, ...dates] = row
    const numbers = { remaining, retryIn: toNever(retryIn), resetIn: toNever(resetIn) }
    const allowed = outcome === 1
    const decision: Decision = allowed
      ? { allowed, ...numbers }
      : { allowed, reason: outcome as RefusalReason, ...numbers }
    const [at, since, interval] = dates as unknown as [Instant?, Instant?, Span?]
    const isDated = at !== undefined && since !== undefined && interval !== undefined
    const date = isDated ? { at, since, interval } : undefined
    return { decision, date, left: left ?? undefined }
  })

const toNull = (wait: Wait): Wait | null => (wait === 'never' ? null : wait)
const toNever = (wait: Wait | null): Wait => wait ?? 'never'

export const encodeTold = (told: readonly Told[]): Value =>
  `${encodeOutcomes(told)} ${encodeAsks(told)}`

/** No outcome holds a space: the first one divides the two lists. */
export const decodeTold = (value: Value): readonly Told[] => {
  const cut = value.indexOf(' ')
  const outcomes = decodeOutcomes(value.slice(0, cut))
  return join(decodeAsks(value.slice(cut + 1)), outcomes)
}

/** Both lists have one for each charge. */
const join = (asks: readonly ToldAsk[], outcomes: readonly ToldOutcome[]): readonly Told[] =>
  asks.flatMap((ask, i) => (outcomes[i] ? [{ ...ask, ...outcomes[i] }] : []))
