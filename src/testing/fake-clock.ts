/** A clock that moves only when a test moves it. */
import { HeadgateError, quote } from '../core/errors.ts'
import {
  after,
  type Clock,
  type Instant,
  instant,
  type Span,
  span,
  type Uptime,
} from '../core/time.ts'

export type FakeClockErrorCode = 'TESTING_CLOCK_START'

export interface FakeClock extends Clock {
  /** Time passes. */
  advance(length: Span): void
  /** The clock is set, ahead or back, as real clocks are; no time passes. */
  set(point: Instant | string): void
  /** How much time has passed: for stores, which forget by it. */
  readonly uptime: Uptime
}

/** Starts at `start`: an instant, or a date and time as ISO 8601 writes them. */
export function fakeClock(start: Instant | string = '2024-01-01T00:00:00Z'): FakeClock {
  let now = toInstant(start)
  let passed = 0
  return Object.assign(() => now, {
    advance: (length: Span): void => {
      now = after(now, length)
      passed += length
    },
    uptime: () => span(passed),
    set: (point: Instant | string): void => {
      now = toInstant(point)
    },
  })
}

function toInstant(point: Instant | string): Instant {
  if (typeof point !== 'string') return point
  const ms = Date.parse(point)
  if (Number.isFinite(ms)) return instant(ms * 1_000)
  throw new HeadgateError<FakeClockErrorCode>({
    code: 'TESTING_CLOCK_START',
    thing: 'a fake clock',
    rule: 'is set to an instant or to a date and time as in ISO 8601',
    finding: quote(point),
  })
}
