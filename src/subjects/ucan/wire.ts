/** Rates and their history as invocations are answered. Times are whole seconds, as everywhere in UCAN. */
import type { Instant } from '../../core/index.ts'
import type { HistoryEntry, HistoryPage, RatePage } from '../paging.ts'
import type { Rate } from '../rate.ts'

/** The deployed shape says `rate`, the specification says `limit`: both are there. */
export const listed = ({ id, rate }: Rate) => ({ id, rate, limit: rate })

export const shown = (rate: Rate) => ({
  id: rate.id,
  subject: rate.subject,
  rate: rate.rate,
  at: inSeconds(rate.at),
  by: { issuer: rate.by.issuer, chain: [...rate.by.chain] },
  ...present('cause', rate.cause),
  ...present('expires', rate.expiresAt === undefined ? undefined : inSeconds(rate.expiresAt)),
  ...present('reason', rate.reason),
  ...present('label', rate.label),
})

export const shownPage = ({ rates, next }: RatePage) => ({
  rates: rates.map(shown),
  ...present('next', next),
})

export const shownHistory = ({ entries, next }: HistoryPage) => ({
  entries: entries.map(shownEntry),
  ...present('next', next),
})

const shownEntry = ({ position, kind, at, by, cause, added, removed }: HistoryEntry) => ({
  position,
  kind,
  at: inSeconds(at),
  by: { issuer: by.issuer, chain: [...by.chain] },
  ...present('cause', cause),
  added: added.map(shown),
  removed: removed.map(shown),
})

const inSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

/** DAG-CBOR has no undefined. */
const present = <T>(name: string, value: T | undefined): Readonly<Record<string, T>> =>
  value === undefined ? {} : { [name]: value }
