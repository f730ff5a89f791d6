/**
 * What stands before every bucket: blocks and rates on the subjects that a charge names. Whoever
 * administers subjects implements it; the limiter only asks, from memory, and never waits for it.
 */
import { capacity, HeadgateError, MAX_CAPACITY, StoreError } from '../core/index.ts'
import type { Ask } from './ask.ts'
import type { Bucket } from './bucket.ts'

export interface Guard {
  /** `unheard`: it has not heard of changes lately, which is as bad as a store that is down. */
  judge(subjects: readonly string[]): { readonly state: 'clear' | 'blocked' | 'unheard' }
  /** The smallest rate above 0 on any of the subjects. */
  smallestRate(subjects: readonly string[]): number | undefined
}

export type GuardErrorCode = 'SUBJECTS_UNSUPPORTED'

/** The asks that name a blocked subject. Throws a `StoreError` when nobody can tell. */
export const blockedAsks = (
  guard: Guard | undefined,
  asks: readonly { readonly asked: Ask }[],
): ReadonlySet<number> => {
  const blocked = new Set<number>()
  for (const [i, { asked }] of asks.entries()) {
    if (asked.subjects === undefined || asked.subjects.length === 0) continue
    if (guard === undefined) throw unsupported(asked)
    const { state } = guard.judge(asked.subjects)
    if (state === 'unheard') throw unheard()
    if (state === 'blocked') blocked.add(i)
  }
  return blocked
}

/** A limit with `rateFrom: subject` takes its count from the subjects' smallest rate, if any. */
export const withSubjectRate = (guard: Guard | undefined, ask: Ask, bucket: Bucket): Bucket => {
  const { definition, limit } = bucket
  if (definition.rateFrom !== 'subject' || limit === undefined) return bucket
  const rate = guard?.smallestRate(ask.subjects ?? [])
  if (rate === undefined) return bucket
  // So slow that the bucket could no longer be told full from empty: as slow as it can be told.
  const slowest = (limit.period * limit.burst) / (MAX_CAPACITY / 2)
  const rated = { ...limit, count: Math.max(rate, slowest) }
  return capacity(rated) === capacity(limit) ? bucket : { ...bucket, limit: rated }
}

function unsupported({ limit }: Ask) {
  return new HeadgateError<GuardErrorCode>({
    code: 'SUBJECTS_UNSUPPORTED',
    thing: `subjects of ${limit}`,
    rule: 'can be named only where subjects are administered',
  })
}

function unheard(): StoreError {
  return new StoreError({
    code: 'STORE_UNAVAILABLE',
    thing: 'the blocks and rates of subjects',
    rule: 'must have been heard of within the last second',
  })
}
