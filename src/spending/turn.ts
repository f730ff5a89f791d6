/** Opening a window early: an entry in the ledger, and the next balances start empty. Nothing is deleted. */
import type { Note } from './ask.ts'
import { toNote } from './ask.ts'
import { type SpendingWindow, turnEarly } from './calendar.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { toTimestamp } from './timestamp.ts'

/** Holds of the closed window stay in it, and are settled in it. */
export const openWindowEarly = (context: Context, note: Note): Change<SpendingWindow> => {
  const calendar = turnEarly(context.calendar)
  return {
    result: calendar.window,
    writes: [],
    calendar,
    entries: [
      {
        kind: 'adjust',
        window: calendar.window.startsAt,
        moves: [],
        note: toNote(note),
        detail: `window opened early; the one from ${toTimestamp(context.calendar.window.startsAt)} was closed`,
      },
    ],
  }
}

/** Notes the first start, which windows aligned to it count from. Later starts change nothing. */
export const start = (context: Context): Change<SpendingWindow> => {
  const { view, keys, calendar } = context
  const [known] = view.read(keys.calendar)
  if (known !== undefined) return unchanged(calendar.window)
  const detail = 'first start'
  const entry = { kind: 'adjust', window: calendar.window.startsAt, moves: [], detail } as const
  return { result: calendar.window, writes: [], entries: [entry] }
}
