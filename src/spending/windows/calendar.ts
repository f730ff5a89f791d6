/**
 * Which window a payer is in. Windows are data: the start of the window is part of every key, and
 * nothing happens when one ends. A payer's time never runs back, so neither do its windows.
 */
import {
  type Clock,
  days,
  type Instant,
  instant,
  millis,
  type Span,
  type Uptime,
} from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { type Note, toNote } from '../flow/ask.ts'
import type { LedgerChange, SpendingStep } from '../flow/step.ts'
import { spendingMistake } from '../mistake.ts'
import type { SpendingSettings } from '../plans/plan.ts'
import { localDay, startOfDay } from './midnight.ts'

/** Half-open: it ends where the next one starts. Its start is its name in keys and in the ledger. */
export interface SpendingWindow {
  readonly startsAt: Instant
  readonly endsAt: Instant
}

export interface Calendar {
  /** The first time seen: where windows aligned to the start begin. */
  readonly origin: Instant
  /** The newest time seen. A clock that steps back is taken for this time until it has caught up. */
  readonly seen: Instant
  readonly window: SpendingWindow
  /** The last window before this one in which anything was written. */
  readonly previous?: SpendingWindow | undefined
  /** How many ledger entries there are, trimmed ones included. */
  readonly entries: number
  /** The hash of the last of them; '' before the first. */
  readonly head: string
  /** Windows that started before were compacted: nothing is kept of them. Absent: none was. */
  readonly compacted?: Instant | undefined
}

/** Nothing can be charged to it any more, nor taken back. */
export const isCompacted = (
  { compacted = instant(0) }: Calendar,
  { startsAt }: SpendingWindow,
): boolean => startsAt < compacted

/**
 * Where a charge to a window counts: in that of now, if it was compacted meanwhile. A hold may outlive its
 * window by that much, since each capture has it remembered for longer.
 */
export const keptWindow = (calendar: Calendar, window: SpendingWindow): SpendingWindow =>
  isCompacted(calendar, window) ? calendar.window : window

/** Changed rules take effect in the next window: a reload gives no caller a fresh window. */
export const calendarAt = (
  now: Instant,
  stored: Calendar | undefined,
  rule: SpendingSettings['window'],
): Calendar => {
  const seen = instant(Math.max(now, stored?.seen ?? 0))
  if (stored === undefined) {
    const window = alignedWindow(rule, seen, seen)
    return { origin: seen, seen, window, entries: 0, head: '' }
  }
  if (seen < stored.window.endsAt) return { ...stored, seen }
  const aligned = alignedWindow(rule, stored.origin, seen)
  const startsAt = instant(Math.max(aligned.startsAt, stored.window.endsAt))
  return { ...stored, seen, window: { ...aligned, startsAt }, previous: stored.window }
}

/**
 * The window in which something happened that is told only now. Of windows before the last one only the
 * rule is known; what was opened early among them counts as part of the whole.
 */
export const windowAt = (
  { window, previous, origin }: Calendar,
  at: Instant,
  rule: SpendingSettings['window'],
): SpendingWindow => {
  if (at >= window.startsAt) return window
  if (previous !== undefined && at >= previous.startsAt && at < previous.endsAt) return previous
  const aligned = alignedWindow(rule, origin, at)
  return { ...aligned, endsAt: instant(Math.min(aligned.endsAt, window.startsAt)) }
}

/** Longer than a request is under way: by then the store may be in the next window. */
const UNDER_WAY: Span = millis(1_000)

/** The calendar as this process last saw it, or by the clock of the machine: for guesses, and nothing else. */
export const calendarMemory = (uptime: Uptime, clock: Clock) => {
  let last: { readonly calendar: Calendar; readonly at: Span } | undefined
  return {
    learn: (calendar: Calendar): void => {
      last = { calendar, at: uptime() }
    },
    guess: (rule: SpendingSettings['window']): readonly Calendar[] => {
      const { calendar, at } = last ?? { calendar: unseen(clock(), rule), at: uptime() }
      const soon = instant(calendar.seen + (uptime() - at) + UNDER_WAY)
      return soon < calendar.window.endsAt
        ? [calendar]
        : [calendar, calendarAt(soon, calendar, rule)]
    },
  }
}

/** As it would be if nothing but the time had ever moved it; where windows count from a start, that is not known. */
function unseen(now: Instant, rule: SpendingSettings['window']): Calendar {
  const calendar = calendarAt(now, undefined, rule)
  const before = instant(calendar.window.startsAt - 1)
  return { ...calendar, previous: alignedWindow(rule, calendar.origin, before) }
}

export const encodeCalendar = (calendar: Calendar): string => JSON.stringify(calendar)

export const decodeCalendar = (value: string): Calendar => {
  const calendar: Calendar = JSON.parse(value)
  return calendar
}

/** Notes the first start, which windows aligned to it count from. Later starts change nothing. */
export const noteStart: SpendingStep<SpendingWindow> = ({ calendar, stored }) =>
  stored === undefined
    ? adjustment(calendar.window, 'first start')
    : { result: calendar.window, writes: [], entries: [] }

/** Ends the window now: the next one starts on empty balances. Its holds are settled in it, nothing is deleted. */
export const openWindowEarly = (note: Note): SpendingStep<SpendingWindow> => {
  const kept = toNote(note)
  return ({ calendar }) => {
    const next = endedEarly(calendar)
    const detail = `window opened early; the one from ${toTimestamp(calendar.window.startsAt)} was closed`
    return { ...adjustment(next.window, detail, kept), calendar: next }
  }
}

function endedEarly(calendar: Calendar): Calendar {
  const { window, seen } = calendar
  // Two windows never share a start: it is their name.
  const startsAt = instant(Math.max(seen, window.startsAt + 1))
  return {
    ...calendar,
    seen: startsAt,
    window: { startsAt, endsAt: instant(Math.max(window.endsAt, startsAt + 1)) },
    previous: endedBy(window, startsAt),
  }
}

function adjustment(
  window: SpendingWindow,
  detail: string,
  note?: Note,
): LedgerChange<SpendingWindow> {
  const entry = { kind: 'adjust', window: window.startsAt, moves: [], note, detail } as const
  return { result: window, writes: [], entries: [entry] }
}

/** The window that a moment falls in, before what was kept is asked. */
export const alignedWindow = (
  { length, align }: SpendingSettings['window'],
  origin: Instant,
  now: Instant,
): SpendingWindow => {
  if (length <= 0) {
    throw spendingMistake('WINDOW_INVALID', 'window length', 'must be more than zero')
  }
  if (typeof align === 'object') return midnightWindow(length, align.midnight, now)
  const first = align === 'epoch' ? 0 : origin
  const startsAt = instant(first + Math.floor((now - first) / length) * length)
  return { startsAt, endsAt: instant(startsAt + length) }
}

function midnightWindow(length: Span, zone: string, now: Instant): SpendingWindow {
  const count = length / days(1)
  if (!Number.isInteger(count)) {
    const rule = 'must be whole days where windows start at midnight'
    const finding = `${length / 3_600_000_000} hours`
    throw spendingMistake('WINDOW_INVALID', 'window length', rule, finding)
  }
  const first = Math.floor(localDay(zone, now) / count) * count
  return { startsAt: startOfDay(zone, first), endsAt: startOfDay(zone, first + count) }
}

/**
 * A calendar that a fast clock moved ahead, brought back to the time that an operator vouches for: to the
 * window that was open then, so that what was spent in it counts on. `listed` are the windows in which
 * anything was written, in the order of their starts. Windows that a fast clock opened stay in the ledger,
 * with all that was charged to them.
 */
export const calendarSetBack = (
  calendar: Calendar,
  now: Instant,
  rule: SpendingSettings['window'],
  listed: readonly SpendingWindow[],
): Calendar => {
  if (now >= calendar.seen) return calendar
  if (now >= calendar.window.startsAt) return { ...calendar, seen: now }
  const { previous: _, ...kept } = calendar
  const known = listed.filter(({ startsAt }) => startsAt <= now)
  const window = windowOpenAt(now, known.at(-1), alignedWindow(rule, kept.origin, now))
  if (isCompacted(calendar, window)) return { ...kept, ...afterCompacted(window, now) }
  const before = known.findLast(({ startsAt }) => startsAt < window.startsAt)
  if (before === undefined || isCompacted(calendar, before)) return { ...kept, seen: now, window }
  return { ...kept, seen: now, window, previous: endedBy(before, window.startsAt) }
}

/** The newest that is known, if it has not ended, as it may have been opened early. */
function windowOpenAt(
  now: Instant,
  newest: SpendingWindow | undefined,
  aligned: SpendingWindow,
): SpendingWindow {
  if (newest === undefined) return aligned
  if (now < newest.endsAt) return newest
  return { ...aligned, startsAt: instant(Math.max(aligned.startsAt, newest.endsAt)) }
}

/**
 * The window of now, by a clock that was fast, was compacted: its entries are gone. A new one starts, whose
 * books are whole; before, compaction would take from a window in which money is spent.
 */
function afterCompacted({ startsAt, endsAt }: SpendingWindow, now: Instant) {
  const start = instant(Math.max(now, startsAt + 1))
  const window = { startsAt: start, endsAt: instant(Math.max(endsAt, start + 1)) }
  return { seen: start, compacted: start, window }
}

const endedBy = ({ startsAt, endsAt }: SpendingWindow, end: Instant): SpendingWindow => ({
  startsAt,
  endsAt: instant(Math.min(endsAt, end)),
})
