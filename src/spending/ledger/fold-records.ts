/** What the store keeps beside balances, as the ledger tells it: the calendar, links, and operators' operation ids. */
import { type Instant, instant } from '../../core/time.ts'
import type { SpendingKeys } from '../keys.ts'
import { type CalendarAccount, type Fold, groundless, linkAccount } from './account.ts'
import type { Compacted } from './checkpoint.ts'
import type { LedgerEntry } from './entry.ts'

const NO_CALENDAR: CalendarAccount = {
  origin: instant(0),
  window: { startsAt: instant(0), endsAt: instant(0) },
  seen: instant(0),
}

/** Every commit writes the calendar; an entry says which window it is where that is a new one. */
export const foldCalendar = (fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void => {
  const { opens, checkpoint, at } = entry
  const known = fold.get(keys.calendar)
  const before = known?.form === 'calendar' ? known.calendar : NO_CALENDAR
  const compacted = checkpoint?.before ?? before.compacted
  setCalendar(fold, keys, { ...(opens ?? before), seen: at, compacted })
}

/** As the checkpoint leaves it. */
export const foldCalendarThen = (
  fold: Fold,
  keys: SpendingKeys,
  { through, calendar, before: compacted }: Compacted,
): void => {
  if (through > 0) setCalendar(fold, keys, { ...NO_CALENDAR, ...calendar, compacted })
}

function setCalendar(fold: Fold, keys: SpendingKeys, calendar: CalendarAccount): void {
  const face = { kind: 'calendar-drift', what: 'calendar' } as const
  fold.set(keys.calendar, { ...face, form: 'calendar', calendar })
}

/** Every window that an entry names is listed, so that what is kept in it is found. */
export const foldWindows = (
  fold: Fold,
  keys: SpendingKeys,
  { window, opens }: LedgerEntry,
  before: Instant,
): void => {
  const start = instant(Math.max(window, opens?.window.startsAt ?? 0))
  for (const each of start === window ? [window] : [window, start]) {
    const key = keys.window(each)
    if (each < before || fold.has(key)) continue
    const face = { kind: 'balance-drift', what: 'window in the list of windows' } as const
    fold.set(key, { ...face, window: each, form: 'window' })
  }
}

/** A member that an operator linked to a plan, or unlinked. */
export const foldLink = (fold: Fold, keys: SpendingKeys, { link, party }: LedgerEntry): void => {
  const plan = party?.plan
  if (link === undefined || plan === undefined) return
  const { member, linked } = link
  const known = fold.get(keys.link(member))
  const old = known?.form === 'link' ? known.plan : undefined
  fold.set(keys.link(member), linkAccount(member, linked ? plan : undefined))
  const list = (of: string, isListed: boolean): void => {
    const face = { kind: 'link-drift', what: `${member} among the members of plan ${of}` } as const
    fold.set(keys.linked(of, member), { ...face, form: 'exact', value: isListed ? '' : undefined })
  }
  if (old !== undefined) list(old, false)
  list(plan, linked)
}

/** What an operator did under an operation id happens once while that is remembered. */
export const foldOnce = (fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void => {
  const { kind, operationId, until, at } = entry
  if (operationId === undefined || until === undefined) return
  const key = keys.operation(kind, operationId)
  const known = fold.get(key)
  const face = { kind: 'booking-drift', what: `${kind} ${operationId}` } as const
  const isTwice = known?.form === 'groundless' || (known?.form === 'once' && at < known.until)
  fold.set(key, isTwice ? groundless(face, entry) : { ...face, form: 'once', until })
}
