/**
 * What a changed limit makes of a token bucket. Apart from the bucket itself, because it needs
 * `bigint`, which no decision under an unchanged limit should pay for.
 */
import { type Span, span } from './time.ts'

/** How much of the largest bucket is used: of the largest burst, at the smallest interval so far. */
export interface LargestUse {
  readonly burst: number
  readonly interval: Span
  readonly used: Span
}

/**
 * The largest limit with a new one among them: as many tokens are used as before. Nothing is owed
 * where the bucket itself counts as many tokens as used, since it fills no faster.
 */
export function owedToLargest(
  burst: number,
  interval: Span,
  used: number,
  before: LargestUse,
): LargestUse | undefined {
  if (BigInt(before.used) * BigInt(interval) <= BigInt(used) * BigInt(before.interval))
    return undefined
  const smallest = span(Math.min(interval, before.interval))
  return {
    burst: Math.max(burst, before.burst),
    interval: smallest,
    used: span(scale(before.used, before.interval, smallest)),
  }
}

/** Full stays full, and empty stays empty. */
export function rescale(used: number, from: number, to: number): number {
  return Math.min(scale(used, from, to), to)
}

/** Rounded up, and through bigint: the product passes 2^53. */
function scale(used: number, from: number, to: number): number {
  return Number((BigInt(used) * BigInt(to) + BigInt(from) - 1n) / BigInt(from))
}
