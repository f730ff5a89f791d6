/** Points in time as flags say them: a duration from now (`7d`), or a date and time (ISO 8601). */
import { after, type Instant, instant, parseDuration, span } from '../core/index.ts'
import { quote } from '../documents/index.ts'
import { systemClock } from '../stores/clock.ts'
import { refuseCall } from './cli-mistake.ts'
import type { FlagValues } from './flag-values.ts'

/** `ahead` counts a duration from now on, `ago` back from now. */
export const readMoment = (
  flags: FlagValues,
  name: string,
  direction: 'ahead' | 'ago',
): Instant | undefined => {
  const text = flags.text(name)
  return text === undefined ? undefined : parseMoment(text, `--${name}`, direction)
}

export const parseMoment = (text: string, thing: string, direction: 'ahead' | 'ago'): Instant => {
  const length = parseDuration(text)
  if (length !== undefined && length > 0) {
    return after(systemClock(), direction === 'ahead' ? length : span(-length))
  }
  const millis = DATE.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(millis)) return instant(millis * 1_000)
  const rule = 'must be a duration (90s, 7d) or a date and time (2026-01-31T12:00:00Z)'
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding: quote(text) })
}

export const inSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

/** `2026-01-31 12:00:00 UTC`. */
export const describeSeconds = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** With a zone: whoever leaves it out means one of 24. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
