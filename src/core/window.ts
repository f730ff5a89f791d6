/** Windows as data: which one a moment falls in. Half-open; nothing happens when one turns. */
import { type Instant, instant, type Span } from './time.ts'

export interface WindowRule {
  readonly length: Span
  /** Where window 0 starts; the epoch unless the rule says otherwise. */
  readonly origin: Instant
}

export interface Window {
  /** Part of the key of every budget, so that a new window starts on an empty one. */
  readonly number: number
  readonly startsAt: Instant
  readonly endsAt: Instant
}

/** `newest` is the latest window seen: a clock that steps back stays in it. */
export const windowAt = ({ length, origin }: WindowRule, now: Instant, newest?: number): Window => {
  const current = Math.floor((now - origin) / length)
  const number = newest === undefined ? current : Math.max(current, newest)
  const startsAt = instant(origin + number * length)
  return { number, startsAt, endsAt: instant(startsAt + length) }
}
