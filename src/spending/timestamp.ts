/** Instants as people and spreadsheets read them: ISO 8601 in UTC, to the microsecond. */
import type { Instant } from '../core/time.ts'

export const toTimestamp = (at: Instant): string => {
  const ms = Math.floor(at / 1_000)
  const micros = String(at - ms * 1_000).padStart(3, '0')
  return `${new Date(ms).toISOString().slice(0, -1)}${micros}Z`
}

/** The UTC day, such as `2026-01-31`. */
export const toDay = (at: Instant): string => toTimestamp(at).slice(0, 'YYYY-MM-DD'.length)

/** The UTC month, such as `2026-01`. */
export const toMonth = (at: Instant): string => toTimestamp(at).slice(0, 'YYYY-MM'.length)
