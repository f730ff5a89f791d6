/** What every step starts from, and how what it found becomes a plan for the store. */
import { answer, type Plan as StorePlan, type View, type Write } from '../core/store.ts'
import { after, days, type Instant, type Span } from '../core/time.ts'
import { type Calendar, readCalendar, writeCalendar } from './calendar.ts'
import { type EntryDraft, encodeEntry } from './entry.ts'
import { type Keys, keysOf } from './keys.ts'
import type { PlanCatalog, SpendingSettings } from './plan.ts'

export interface Context {
  readonly settings: SpendingSettings
  readonly plans: PlanCatalog
  readonly keys: Keys
  readonly calendar: Calendar
  /** The store's, but at the payer's own time, which never runs back. */
  readonly view: View
}

export interface Change<R> {
  readonly result: R
  readonly writes: readonly Write[]
  readonly entries: readonly EntryDraft[]
  /** Only where the window itself changes. */
  readonly calendar?: Calendar
}

/** Longer than requests are remembered: a queue of fees may be replayed after a long weekend. */
export const REMEMBER_FOR: Span = days(7)

export const openContext = (
  view: View,
  settings: SpendingSettings,
  plans: PlanCatalog,
): Context => {
  const keys = keysOf(settings.payer)
  const calendar = readCalendar(view, keys, settings.window)
  const read: View['read'] = (...names) => view.read(...names)
  return { settings, plans, keys, calendar, view: { now: calendar.seen, read } }
}

export const unchanged = <R>(result: R): Change<R> => ({ result, writes: [], entries: [] })

/** The calendar is written with every change: it numbers the entries and keeps the newest time. */
export const toStorePlan = <R>(context: Context, change: Change<R>): StorePlan<R> => {
  const { result, writes, entries } = change
  if (writes.length === 0 && entries.length === 0) return answer(result)
  const { keys, view } = context
  const calendar = change.calendar ?? context.calendar
  const next = { ...calendar, entries: calendar.entries + entries.length }
  return {
    writes: [...writes, { key: keys.calendar, value: writeCalendar(next) }],
    appends: entries.map((draft, i) => ({
      stream: keys.ledger,
      entry: encodeEntry({ seq: calendar.entries + 1 + i, at: view.now, ...draft }),
    })),
    result,
  }
}

export const forgetAt = ({ settings, view }: Context, end: Instant = view.now): Instant =>
  after(end > view.now ? end : view.now, settings.rememberFor ?? REMEMBER_FOR)
