/** Days as a time zone counts them: some are 23 or 25 hours long, and a few start after midnight. */
import { quote } from '../../core/errors.ts'
import { type Instant, instant } from '../../core/time.ts'
import { spendingMistake } from '../mistake.ts'

/** The number of the local day at an instant, counted from 1970-01-01. */
export const localDay = (zone: string, at: Instant): number => {
  const ms = Math.floor(at / 1_000)
  return Math.floor((ms + offsetMs(zone, ms)) / DAY_MS)
}

/** The first instant of a local day. */
export const startOfDay = (zone: string, day: number): Instant => {
  const midnight = day * DAY_MS
  const guess = midnight - offsetMs(zone, midnight)
  const before = midnight - offsetMs(zone, guess - DAY_MS / 2)
  const after = midnight - offsetMs(zone, guess + DAY_MS / 2)
  // Where clocks are set at midnight itself, the day starts by the offset that holds in it.
  const starts = [before, guess, after].filter((ms) => isStart(zone, ms, day))
  return instant(Math.min(...(starts.length > 0 ? starts : [guess])) * 1_000)
}

const DAY_MS = 86_400_000

function isStart(zone: string, ms: number, day: number): boolean {
  const local = (at: number) => Math.floor((at + offsetMs(zone, at)) / DAY_MS)
  return local(ms) === day && local(ms - 1) < day
}

function offsetMs(zone: string, ms: number): number {
  const parts = new Map(
    formatter(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  )
  const field = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name))
  const local = Date.UTC(
    field('year'),
    field('month') - 1,
    field('day'),
    field('hour'),
    field('minute'),
    field('second'),
  )
  return local - Math.floor(ms / 1_000) * 1_000
}

/** A formatter takes 50 µs to make; there are few zones, and they come from the configuration. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  const made = makeFormatter(zone)
  formatters.set(zone, made)
  return made
}

function makeFormatter(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw spendingMistake(
      'WINDOW_INVALID',
      'time zone',
      'must be one of the IANA names',
      quote(zone),
    )
  }
}
