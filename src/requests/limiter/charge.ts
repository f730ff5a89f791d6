/**
 * A charge on its way: what may be asked, resolved against the catalog, kept from subjects that are
 * blocked, and answered, which is the verdict with the labels of each charge.
 */
import type { BatchVerdict } from '../../core/decide.ts'
import { HeadgateError, StoreError } from '../../core/errors.ts'
import { type GcraLimit, MAX_CAPACITY } from '../../core/gcra.ts'
import type { ChargeDate, Decision, Mode, RefusalReason } from '../../core/limit.ts'
import type { Key } from '../../core/store.ts'
import { span, toSeconds, type Wait } from '../../core/time.ts'
import { bucketName } from '../catalog/catalog.ts'
import type { Bucket } from '../catalog/definition.ts'
import type { Parts } from '../ids/parts.ts'

/** `check` and `spend` have a say in the batch; `try` is charged if it fits and never refuses it. */
export type AskMode = 'spend' | 'check' | 'try'

export interface Ask {
  readonly limit: string
  /** The id to count by, or the parts of a request to build it from; one of the two. */
  readonly id?: string
  readonly parts?: Parts
  /** Tokens; 1 unless told. */
  readonly cost?: number
  readonly mode?: AskMode
  /** Whom the request concerns; a block on any of them refuses the batch before it is charged. */
  readonly subjects?: readonly string[]
  /** With `refund`: of the charge to give back, as the answer to a dated spend has it. */
  readonly date?: ChargeDate
}

/** Several charges, all or nothing. Only a refund by operation id may leave them out. */
export interface Batch {
  readonly charges?: readonly Ask[]
  /** Remembered with an admitted answer: the same id again changes nothing. */
  readonly operationId?: string
  /** With `spend`: the answer dates each charge, so that it can be given back without an operation id. */
  readonly dated?: boolean
}

/** One charge, or a batch of them. */
export type Request = (Ask & Pick<Batch, 'operationId' | 'dated'>) | Batch

export type AskErrorCode =
  | 'CHARGES_MISSING'
  | 'CHARGES_TOO_MANY'
  | 'COST_INVALID'
  | 'COST_ABOVE_BURST'
  | 'MODE_UNSUPPORTED'
  | 'LIMIT_KIND'

/** A batch beyond this is a caller's bug: an order of 100 names asks 202 buckets. */
export const MAX_CHARGES = 256

/** A charge on one bucket: what the engine decides, with the labels that its answer carries. */
export interface BucketCharge {
  /** As it was asked: a bucket's canonical id does not always tell what it came from. */
  readonly asked: Ask
  readonly bucket: Bucket
  /** Where the bucket's state is kept. */
  readonly key: Key
  /** Absent: no limit is in force, so there is nothing to charge. */
  readonly limit?: GcraLimit
  readonly cost: number
  readonly mode: Mode
  /** With `refund`: of the charge to give back. */
  readonly date?: ChargeDate
  /** The limit is a shadow: it never refuses. */
  readonly shadow?: true
}

/** From an ask to its bucket and the limit in force; throws for what the catalog cannot read. */
export type BucketOf = (ask: Ask) => Bucket

export const toBatch = (request: Request): Batch => {
  if (!('limit' in request)) return request
  // Nothing is copied here: a charge may well carry fields of its batch that say nothing.
  if (request.operationId === undefined && request.dated === undefined)
    return { charges: [request] }
  const { operationId, dated, ...ask } = request
  return {
    charges: [ask],
    ...(operationId !== undefined && { operationId }),
    ...(dated !== undefined && { dated }),
  }
}

/** Refuses the whole batch at its first mistake; nothing has been charged by then. `key` as below. */
export const resolveCharges = (
  bucketOf: BucketOf,
  { charges = [] }: Batch,
  allowedModes: readonly AskMode[],
  key?: Key,
): readonly BucketCharge[] => {
  if (charges.length === 0) {
    throw mistake('CHARGES_MISSING', 'charges', 'must hold at least one charge')
  }
  if (charges.length > MAX_CHARGES) {
    const rule = `must hold at most ${MAX_CHARGES} charges`
    throw mistake('CHARGES_TOO_MANY', 'charges', rule, String(charges.length))
  }
  return charges.map((ask) => {
    const mode = modeOf(ask, allowedModes)
    const bucket = bucketOf(ask)
    refusePlaces(bucket)
    return chargeOn(ask, bucket, costOf(ask, bucket), mode, key)
  })
}

/** `key` only where the bucket will not be asked: naming one takes time. */
export const chargeOn = (
  asked: Ask,
  bucket: Bucket,
  cost: number,
  mode: Mode,
  key = bucketName('requests', bucket),
): BucketCharge => {
  const { limit, definition } = bucket
  if (limit === undefined) return { asked, bucket, key, cost, mode }
  const charge = { asked, bucket, key, limit, cost, mode }
  return definition.shadow === true ? { ...charge, shadow: true } : charge
}

/** How many at once is no rate: there is nothing to spend. */
function refusePlaces({ definition: { name, places } }: Bucket): void {
  if (places === undefined) return
  throw mistake('LIMIT_KIND', name, 'bounds how many run at once: acquire a place instead')
}

function modeOf({ limit, mode }: Ask, allowed: readonly AskMode[]): AskMode {
  const [usual = 'spend'] = allowed
  if (mode === undefined) return usual
  if (allowed.includes(mode)) return mode
  const rule = `must be ${allowed.join(' or ')} in this call`
  throw mistake('MODE_UNSUPPORTED', `mode of ${limit}`, rule, mode)
}

function costOf({ cost = 1 }: Ask, { definition, limit }: Bucket): number {
  const thing = `cost for ${definition.name}`
  if (!Number.isSafeInteger(cost) || cost < 0) {
    throw mistake('COST_INVALID', thing, 'must be a whole number of at least 0', String(cost))
  }
  if (limit !== undefined && cost > limit.burst) {
    const rule = `must be at most the burst of ${limit.burst}, as more can never be allowed`
    throw mistake('COST_ABOVE_BURST', thing, rule, String(cost))
  }
  return cost
}

function mistake(code: AskErrorCode, thing: string, rule: string, finding?: string) {
  return new HeadgateError({ code, thing, rule, finding })
}

/**
 * What stands before every bucket: blocks and rates on the subjects that a charge names. It answers
 * from memory.
 */
export interface Guard {
  /**
   * Undefined, the rule: it can be asked at once. Else it has something to read first: it can be asked
   * when the promise has resolved, and a rejection counts as a failure of the store.
   */
  ready?(subjects: readonly string[]): Promise<void> | undefined
  /** `stale`: it has not followed the changes lately, which is as bad as a store that is down. */
  judge(subjects: readonly string[]): { readonly state: 'clear' | 'blocked' | 'stale' }
  /** The smallest rate above 0 on any of the subjects. */
  smallestRate(subjects: readonly string[]): number | undefined
}

export type GuardErrorCode = 'SUBJECTS_UNSUPPORTED'

/** Lets the guard read what it must before it is asked. Answers the failure of the store, if it failed. */
export const attendGuard = (
  guard: Guard | undefined,
  { charges = [] }: Batch,
): Promise<StoreError | undefined> | undefined => {
  if (guard?.ready === undefined) return undefined
  let waits: Promise<void>[] | undefined
  for (const { subjects } of charges) {
    const wait = subjects && guard.ready(subjects)
    if (wait !== undefined) waits = [...(waits ?? []), wait]
  }
  return waits && Promise.all(waits).then(() => undefined, storeFailure)
}

function storeFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  throw error
}

/** The charges that name a blocked subject; a `StoreError` when that cannot be told. */
export const blockedCharges = (
  guard: Guard | undefined,
  { charges = [] }: Batch,
): readonly number[] | StoreError => {
  if (charges.every(({ subjects }) => subjects === undefined)) return NONE
  const blocked: number[] = []
  for (const [i, asked] of charges.entries()) {
    if (asked.subjects === undefined || asked.subjects.length === 0) continue
    if (guard === undefined) throw unsupported(asked)
    const { state } = guard.judge(asked.subjects)
    if (state === 'stale') return stale()
    if (state === 'blocked') blocked.push(i)
  }
  return blocked
}

const NONE: readonly number[] = []

/**
 * A limit with `rateFrom: subject` is scaled to the subjects' smallest rate, if any has one: `count`
 * becomes that rate and `burst` shrinks in proportion. It grows only where the limit says so.
 */
export const withSubjectRate = (guard: Guard | undefined, ask: Ask, bucket: Bucket): Bucket => {
  const { definition, limit } = bucket
  if (definition.rateFrom !== 'subject' || limit === undefined) return bucket
  const rate = guard?.smallestRate(ask.subjects ?? [])
  if (rate === undefined || rate === limit.count) return bucket
  if (rate > limit.count && definition.subjectMayRaise !== true) return bucket
  return { ...bucket, limit: scaledTo(rate, limit) }
}

/** The burst is rounded down, but a subject that is not blocked may always ask for one. */
function scaledTo(rate: number, { kind, burst, count, period }: GcraLimit): GcraLimit {
  // Not faster than a token each microsecond, and not so slow that full could not be told from empty.
  const slowest = period / (MAX_CAPACITY / 2)
  const paced = Math.min(Math.max(rate, slowest), period)
  const largest = Math.floor(MAX_CAPACITY / Math.ceil(period / paced))
  const scaled = Math.floor(burst * (paced / count))
  return { kind, burst: Math.min(Math.max(scaled, 1), largest), count: paced, period }
}

function unsupported({ limit }: Ask) {
  return new HeadgateError<GuardErrorCode>({
    code: 'SUBJECTS_UNSUPPORTED',
    thing: `subjects of ${limit}`,
    rule: 'can be named only where subjects are administered',
  })
}

function stale(): StoreError {
  return new StoreError({
    code: 'STORE_UNAVAILABLE',
    thing: 'the blocks and rates of subjects',
    rule: 'must be at most a second old',
  })
}

/**
 * Beyond the engine's reasons:
 * - `DISABLED`: the limit has no default and no override for this id; allowed.
 * - `BLOCKED`: a subject that the charge names is blocked; no waiting helps.
 * - `STORE_UNAVAILABLE`: the store is down and every limit asked is `onStoreFailure: open`; allowed.
 */
export type Reason = RefusalReason | 'DISABLED' | 'BLOCKED' | 'STORE_UNAVAILABLE'

export interface Outlook {
  readonly allowed: boolean
  readonly reason?: Reason
  /** Tokens left; infinite where no limit is in force. */
  readonly remaining: number
  readonly retryIn: Wait
  readonly resetIn: Wait
  /** `retryIn` in whole seconds, rounded up; null: never. */
  readonly retryAfterSeconds: number | null
}

export interface ChargeAnswer extends Outlook {
  readonly limit: string
  readonly id: string
  readonly bucket: string
  readonly cost: number
  readonly mode: Mode
  readonly source: Bucket['source']
  readonly policy?: Pick<GcraLimit, 'burst' | 'count' | 'period'>
  /** The limit is a shadow: whatever is said here, it refused nothing. */
  readonly shadow?: true
  /** Of a dated spend: what its refund needs. Absent where nothing was charged. */
  readonly date?: ChargeDate
}

export interface Answer extends Outlook {
  /** One for each charge, in order. */
  readonly charges: readonly ChargeAnswer[]
  /** The names of all limits that refused, not only the strictest. */
  readonly violated: readonly string[]
  /** This is the remembered answer to an earlier call with the same operation id. */
  readonly replayed?: true
}

/**
 * Charges without a limit in force took no part in the verdict; without any, there is none. `told`
 * has one for each charge where the verdict is of another day, when other limits may have been in force.
 */
export const toAnswer = (
  charges: readonly BucketCharge[],
  verdict: BatchVerdict<unknown> | undefined,
  told?: readonly (Decision | undefined)[],
): Answer => {
  if (verdict === undefined) return alike(charges, DISABLED)
  const violated: string[] = []
  const whole = outlook(verdict.decision)
  let position = 0
  const answers = charges.map((charge, i) => {
    if ((told === undefined ? charge.limit : told[i]) === undefined) return label(charge, DISABLED)
    const decision = verdict.decisions[position]
    if (verdict.violated.includes(position++)) violated.push(charge.bucket.definition.name)
    if (decision === verdict.decision) return label(charge, whole)
    return label(charge, decision === undefined ? DISABLED : outlook(decision))
  })
  return combine(whole, answers, violated)
}

/** The answer while the store is down, where each limit's policy is to let callers pass. */
export const openAnswer = (charges: readonly BucketCharge[]): Answer => alike(charges, OPEN)

/** No bucket was asked: what the other limits would have said is not known. */
export const blockedAnswer = (
  charges: readonly BucketCharge[],
  blocked: readonly number[],
): Answer => {
  const violated = charges.flatMap(({ bucket }, i) =>
    blocked.includes(i) ? bucket.definition.name : [],
  )
  return { ...alike(charges, BLOCKED), violated }
}

const DISABLED = unlimited('DISABLED')
const OPEN = unlimited('STORE_UNAVAILABLE')
const BLOCKED: Outlook = {
  allowed: false,
  reason: 'BLOCKED',
  remaining: 0,
  retryIn: 'never',
  resetIn: 'never',
  retryAfterSeconds: null,
}

function unlimited(reason: Reason): Outlook {
  const remaining = Number.POSITIVE_INFINITY
  return {
    allowed: true,
    reason,
    remaining,
    retryIn: span(0),
    resetIn: span(0),
    retryAfterSeconds: 0,
  }
}

function alike(charges: readonly BucketCharge[], facts: Outlook): Answer {
  return combine(
    facts,
    charges.map((charge) => label(charge, facts)),
    [],
  )
}

// Field by field from here on: spreading three objects a charge cost a quarter of an answer's time.

function combine(facts: Outlook, charges: Answer['charges'], violated: Answer['violated']): Answer {
  const { allowed, reason, remaining, retryIn, resetIn, retryAfterSeconds } = facts
  return reason === undefined
    ? { allowed, remaining, retryIn, resetIn, retryAfterSeconds, charges, violated }
    : { allowed, reason, remaining, retryIn, resetIn, retryAfterSeconds, charges, violated }
}

function label({ bucket, cost, mode, shadow }: BucketCharge, facts: Outlook): ChargeAnswer {
  const { definition, id, key, limit: policy, source } = bucket
  const { allowed, reason, remaining, retryIn, resetIn, retryAfterSeconds } = facts
  const answer: { -readonly [Field in keyof ChargeAnswer]: ChargeAnswer[Field] } = {
    limit: definition.name,
    id,
    bucket: key,
    cost,
    mode,
    source,
    allowed,
    remaining,
    retryIn,
    resetIn,
    retryAfterSeconds,
  }
  if (policy !== undefined) answer.policy = policy
  if (shadow !== undefined) answer.shadow = shadow
  if (reason !== undefined) answer.reason = reason
  return answer
}

function outlook(decision: Decision): Outlook {
  const { retryIn, resetIn } = decision
  const remaining = Number(decision.remaining)
  const retryAfterSeconds = retryIn === 'never' ? null : toSeconds(retryIn)
  return decision.allowed
    ? { allowed: true, remaining, retryIn, resetIn, retryAfterSeconds }
    : { allowed: false, reason: decision.reason, remaining, retryIn, resetIn, retryAfterSeconds }
}
