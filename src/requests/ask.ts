/** What callers ask of the limiter, checked and resolved against the catalog. */
import { type Charge, HeadgateError } from '../core/index.ts'
import type { Bucket } from './catalog.ts'
import type { Parts } from './parts.ts'

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
}

/** Several charges, all or nothing. Only a refund by operation id may leave them out. */
export interface Batch {
  readonly charges?: readonly Ask[]
  /** Remembered with an admitted answer: the same id again changes nothing. */
  readonly operationId?: string
}

/** One charge, or a batch of them. */
export type Request = (Ask & { readonly operationId?: string }) | Batch

export type AskErrorCode =
  | 'CHARGES_MISSING'
  | 'CHARGES_TOO_MANY'
  | 'COST_INVALID'
  | 'COST_ABOVE_BURST'
  | 'MODE_UNSUPPORTED'

/** A batch beyond this is a caller's bug: an order of 100 names asks 202 buckets. */
export const MAX_CHARGES = 256

export interface ResolvedAsk {
  /** As it was asked: what a bucket's canonical id came from cannot always be told from it. */
  readonly asked: Ask
  readonly bucket: Bucket
  readonly cost: number
  readonly mode: Charge['mode']
}

/** From a charge to its bucket and the limit in force; throws for what the catalog cannot read. */
export type BucketOf = (ask: Ask) => Bucket

export const toBatch = (request: Request): Batch => {
  if (!('limit' in request)) return request
  const { operationId, ...ask } = request
  return operationId === undefined ? { charges: [ask] } : { charges: [ask], operationId }
}

/** Refuses the whole batch at its first mistake; nothing has been charged by then. */
export const resolveAsks = (
  bucketOf: BucketOf,
  { charges = [] }: Batch,
  allowedModes: readonly AskMode[],
): readonly ResolvedAsk[] => {
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
    return { asked: ask, bucket, mode, cost: costOf(ask, bucket) }
  })
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
