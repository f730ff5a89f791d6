/** A clock that stands still until a test moves it. */
import { HeadgateError } from '../core/errors.ts'
import { after, type Clock, type Instant, instant, type Span } from '../core/time.ts'
import type { TestingErrorCode } from './errors.ts'

export interface FakeClock extends Clock {
  advance(length: Span): void
  /** Also backwards: real clocks do that. */
  set(point: Instant | string): void
}

/** Starts at `start`: an instant, or a date and time as ISO 8601 writes them. */
export function fakeClock(start: Instant | string = '2024-01-01T00:00:00Z'): FakeClock {
  let now = toInstant(start)
  return Object.assign(() => now, {
    advance: (length: Span): void => {
      now = after(now, length)
    },
    set: (point: Instant | string): void => {
      now = toInstant(point)
    },
  })
}

function toInstant(point: Instant | string): Instant {
  if (typeof point !== 'string') return point
  const ms = Date.parse(point)
  if (Number.isFinite(ms)) return instant(ms * 1_000)
  throw new HeadgateError<TestingErrorCode>({
    code: 'TESTING_CLOCK_START',
    thing: 'a fake clock',
    rule: 'is set to an instant or to a date and time as in ISO 8601',
    finding: JSON.stringify(point),
  })
}
