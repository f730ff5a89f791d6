/** Bookings as the ledger tells them: what was charged under an operation id, and how much was taken back. */
import { claimOf } from '../flow/hold.ts'
import type { SpendingKeys } from '../keys.ts'
import type { BookingAccount, Fold } from './account.ts'
import { type LedgerEntry, moved } from './entry.ts'

/** What is kept under an operation id. Needs the hold as it was before the entry. */
export const foldBooking = (fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void => {
  const { kind, operationId, reverses, booked, window } = entry
  const set = (id: string, account: BookingAccount): void => {
    const face = { kind: 'booking-drift', what: `${account.verb} ${id}`, window } as const
    fold.set(keys.operation(account.verb, id), { ...face, form: 'booking', booked: account })
  }
  if (kind === 'reverse' && reverses !== undefined && booked !== undefined) {
    // The hold says it.
    if (booked === 'hold') return
    const known = fold.get(keys.operation(booked, reverses))
    if (known?.form !== 'booking') return
    const reversed = known.booked.reversed + moved(entry, 'from', 'spent')
    set(reverses, { ...known.booked, reversed })
    return
  }
  const made = operationId === undefined ? undefined : bookedBy(fold, keys, entry)
  if (operationId !== undefined && made !== undefined) set(operationId, made)
}

/** Undefined where nothing can be taken back by its id, or where what is told of it was compacted. */
function bookedBy(
  fold: Fold,
  keys: SpendingKeys,
  { kind, hold, party, paid, window, flags, ...entry }: LedgerEntry,
): BookingAccount | undefined {
  if (kind === 'hold' && flags?.includes('extended') !== true) {
    return { verb: 'hold', reversed: 0n, hold }
  }
  if (kind !== 'capture' || party === undefined) return undefined
  const booking = { window, party: { ...party, ...paid } }
  if (hold === undefined) {
    const amount = moved(entry, 'to', 'spent')
    return { verb: 'record', reversed: 0n, booking: { ...booking, amount } }
  }
  const known = fold.get(keys.hold(hold))
  if (known?.form !== 'hold' || entry.captured === undefined) return undefined
  const { claimed } = claimOf(known.hold, entry.captured - known.hold.captured)
  const charged = moved(entry, 'to', 'spent') - moved(entry, 'from', 'spent')
  const amount = charged + (window === known.hold.window ? claimed : 0n)
  return { verb: 'capture', reversed: 0n, hold, booking: { ...booking, amount } }
}
