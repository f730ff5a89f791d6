/**
 * Which window a payer is in. Windows are data: the start of the window is part of every key, and
 * nothing happens when one turns. A payer's time never runs back, so neither do its windows.
 */
import type { View } from '../core/store.ts'
import { days, type Instant, instant } from '../core/time.ts'
import { windowAt } from '../core/window.ts'
import type { Keys } from './keys.ts'
import { localDay, startOfDay } from './midnight.ts'
import { mistake } from './mistake.ts'
import type { SpendingSettings } from './plan.ts'

/** Half-open. Its start is its name in keys and in the ledger. */
export interface SpendingWindow {
  readonly startsAt: Instant
  readonly endsAt: Instant
}

export interface Calendar {
  /** The first time seen: where windows aligned to the start begin. */
  readonly origin: Instant
  /** The newest time seen. A clock that steps back stands still here until it has caught up. */
  readonly seen: Instant
  readonly window: SpendingWindow
  /** The last window before this one in which anything was written. */
  readonly previous?: SpendingWindow | undefined
  /** How many ledger entries there are, trimmed ones included. */
  readonly entries: number
}

/** Changed rules are felt when the window turns: a reload gives nobody a fresh window. */
export const readCalendar = (
  view: View,
  keys: Keys,
  rule: SpendingSettings['window'],
): Calendar => {
  const [value] = view.read(keys.calendar)
  const stored = value === undefined ? undefined : decode(value)
  const seen = instant(Math.max(view.now, stored?.seen ?? 0))
  if (stored === undefined) {
    return { origin: seen, seen, window: alignedWindow(rule, seen, seen), entries: 0 }
  }
  if (seen < stored.window.endsAt) return { ...stored, seen }
  const aligned = alignedWindow(rule, stored.origin, seen)
  const startsAt = instant(Math.max(aligned.startsAt, stored.window.endsAt))
  return { ...stored, seen, window: { ...aligned, startsAt }, previous: stored.window }
}

export const writeCalendar = (calendar: Calendar): string => JSON.stringify(calendar)

/** Closes the window now, so that the next one starts on empty balances. */
export const turnEarly = (calendar: Calendar): Calendar => {
  const { window, seen } = calendar
  // Two windows never share a start: it is their name.
  const startsAt = instant(Math.max(seen, window.startsAt + 1))
  return {
    ...calendar,
    seen: startsAt,
    window: { startsAt, endsAt: instant(Math.max(window.endsAt, startsAt + 1)) },
    previous: { startsAt: window.startsAt, endsAt: startsAt },
  }
}

const alignedWindow = (
  { length, align }: SpendingSettings['window'],
  origin: Instant,
  now: Instant,
): SpendingWindow => {
  if (length <= 0) throw mistake('WINDOW_INVALID', 'window length', 'must be more than zero')
  if (typeof align === 'object') return midnightWindow(length, align.midnight, now)
  const { startsAt, endsAt } = windowAt(
    { length, origin: align === 'epoch' ? instant(0) : origin },
    now,
  )
  return { startsAt, endsAt }
}

function midnightWindow(length: number, zone: string, now: Instant): SpendingWindow {
  const count = length / days(1)
  if (!Number.isInteger(count)) {
    const rule = 'must be whole days where windows start at midnight'
    throw mistake('WINDOW_INVALID', 'window length', rule, `${length / 3_600_000_000} hours`)
  }
  const first = Math.floor(localDay(zone, now) / count) * count
  return { startsAt: startOfDay(zone, first), endsAt: startOfDay(zone, first + count) }
}

function decode(value: string): Calendar {
  const calendar: Calendar = JSON.parse(value)
  return calendar
}
