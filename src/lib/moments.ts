/** Times as people write and read them: a duration from now, ISO 8601, and how long a wait is. */
import { formatDuration, parseDuration } from '../core/duration.ts'
import { after, type Instant, instant, type Span, span } from '../core/time.ts'

/** What `parseMoment` takes, for messages. */
export const MOMENT_RULE = 'must be a duration (90s, 7d) or a date and time (2026-01-31T12:00:00Z)'

/** `ahead` counts a duration from now on, `ago` back from now. Undefined: neither form. */
export const parseMoment = (
  text: string,
  now: Instant,
  direction: 'ahead' | 'ago',
): Instant | undefined => {
  const length = parseDuration(text)
  if (length !== undefined && length > 0) {
    return after(now, direction === 'ahead' ? length : span(-length))
  }
  const millis = DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(millis) ? instant(millis * 1_000) : undefined
}

export const inSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

/** `2026-01-31 12:00:00 UTC`. */
export const describeSeconds = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Exact, in parts that are not zero: `90d`, `1h30m`, `2d1.5s`; below a second as Go writes it. */
export const describeLength = (length: Span): string => {
  let rest: number = length
  let text = ''
  for (const [unit, size] of LARGE_UNITS) {
    const many = Math.floor(rest / size)
    if (many > 0) text += `${many}${unit}`
    rest -= many * size
  }
  return rest > 0 || text === '' ? `${text}${formatDuration(span(rest))}` : text
}

/**
 * A wait for people: `90d (2159h59m58.085s), at 2026-04-01 00:00:00 UTC`. Rounded up, as nobody should
 * come too early; the exact length follows where that changed it.
 */
export const describeWait = (length: Span, now: Instant): string => {
  const grain = length >= DAY ? HOUR : length >= HOUR ? MINUTE : length >= MINUTE ? SECOND : 1
  const rounded = Math.ceil(length / grain) * grain
  const exact = rounded === length ? '' : ` (${formatDuration(length)})`
  const at = describeSeconds(Math.ceil(after(now, length) / SECOND))
  return `${describeLength(span(rounded))}${exact}, at ${at}`
}

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LARGE_UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
] as const

/** A time needs its zone: without one it means something else on every machine. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** ISO 8601 with date, time and zone, to the microsecond. Undefined for any other text. */
export const parseTimestamp = (text: string): Instant | undefined => {
  const [, seconds = '', fraction = '', zone = ''] = TIMESTAMP.exec(text) ?? []
  const millis = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(millis)
    ? undefined
    : instant(millis * 1_000 + Number(fraction.padEnd(6, '0')))
}

/** What `parseTimestamp` takes, for messages. */
export const TIMESTAMP_RULE =
  'must be a moment in ISO 8601 with its zone, such as 2026-01-01T00:00:00Z'

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/

/** ISO 8601 in UTC, to the microsecond. */
export const toTimestamp = (at: Instant): string => {
  const ms = Math.floor(at / 1_000)
  const micros = String(at - ms * 1_000).padStart(3, '0')
  return `${new Date(ms).toISOString().slice(0, -1)}${micros}Z`
}

/** The UTC day, such as `2026-01-31`. */
export const toDay = (at: Instant): string => toTimestamp(at).slice(0, 'YYYY-MM-DD'.length)

/** The UTC month, such as `2026-01`. */
export const toMonth = (at: Instant): string => toTimestamp(at).slice(0, 'YYYY-MM'.length)
