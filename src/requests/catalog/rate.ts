/** Burst, count and period as documents give them, checked against what the engine can keep. */
import { formatNanos, parseNanos } from '../../core/duration.ts'
import { assert, type Mistake, type Position } from '../../core/errors.ts'
import { emissionInterval, type GcraLimit, MAX_CAPACITY } from '../../core/gcra.ts'
import type { Fields } from '../../documents/field.ts'
import type { Gathering } from '../../documents/mistakes.ts'
import { readDuration, readPositive, readText } from '../../documents/scalars.ts'
import { refuseCatalog } from './definition.ts'

export const RATE_FIELDS = ['burst', 'count', 'period'] as const
export type RateField = (typeof RATE_FIELDS)[number]

export type CatalogWarningCode = 'RATE_ROUNDED' | 'DEFAULT_UNUSED' | 'OVERRIDE_UNMATCHABLE'

/** Something that works, but perhaps not as meant. A value, for the loader of the catalog to show. */
export type CatalogWarning = Mistake<CatalogWarningCode> & { readonly at: Position }

export interface CheckedRate {
  readonly limit: GcraLimit
  readonly warnings: readonly CatalogWarning[]
}

/** Time is counted in whole microseconds, so a token cannot come back sooner. */
const NANOS_PER_MICRO = 1_000n

/** Undefined if something of it is missing or wrong. What is missing was told by whoever read the fields. */
export const readRate = (
  { burst, count, period }: Fields<never, RateField>,
  thing: string,
  { attempt }: Gathering,
): CheckedRate | undefined => {
  const most = burst && attempt(() => readPositive(burst))
  const tokens = count === burst ? most : count && attempt(() => readPositive(count))
  const length = period && attempt(() => readDuration(period))
  if (!burst || !most || !tokens || !period || !length) return undefined
  const limit: GcraLimit = { kind: 'gcra', burst: most, count: tokens, period: length }
  // Exact, before rounding: a period of 1ns would otherwise pass for the microsecond it is kept as.
  const nanos = parseNanos(readText(period))
  assert(nanos !== undefined, 'a duration that was read has nanoseconds')
  return attempt(() => {
    refuseTooFast(limit, nanos, thing, period.node.at)
    refuseTooLarge(limit, thing, burst.node.at)
    return { limit, warnings: roundingWarnings(limit, nanos, thing, period.node.at) }
  })
}

function refuseTooFast({ count }: GcraLimit, nanos: bigint, thing: string, at: Position): void {
  if (nanos >= BigInt(count) * NANOS_PER_MICRO) return
  const rule = 'must give each token at least 1µs: period divided by count'
  const finding = `${formatNanos(nanos)} for ${count} tokens`
  refuseCatalog({ code: 'LIMIT_TOO_FAST', thing, rule, finding, at })
}

function refuseTooLarge(limit: GcraLimit, thing: string, at: Position): void {
  const most = Math.floor(MAX_CAPACITY / emissionInterval(limit))
  if (limit.burst <= most) return
  const rule = 'must refill an empty bucket within 142 years: burst times period divided by count'
  const finding = `a burst of ${limit.burst}, where at most ${most} would do`
  refuseCatalog({ code: 'LIMIT_TOO_LARGE', thing, rule, finding, at })
}

/** Rounding up slows a rate, never speeds it; beyond one part in a hundred someone would notice. */
function roundingWarnings(
  limit: GcraLimit,
  nanos: bigint,
  thing: string,
  at: Position,
): readonly CatalogWarning[] {
  const interval = emissionInterval(limit)
  const kept = BigInt(interval) * NANOS_PER_MICRO * BigInt(limit.count)
  if (kept * 100n <= nanos * 101n) return []
  const percent = Number((kept * 100n) / nanos) - 100
  const rule = 'is kept in whole microseconds a token, rounded up'
  const finding = `${interval}µs a token, which slows the rate by ${percent}%`
  return [{ code: 'RATE_ROUNDED', thing, rule, finding, at }]
}
