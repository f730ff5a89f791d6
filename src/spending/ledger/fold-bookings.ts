/** Bookings as the ledger tells them: what was charged under an operation id, and how much was taken back. */
import type { Instant } from '../../core/time.ts'
import { claimOf } from '../flow/hold.ts'
import type { SpendingKeys } from '../keys.ts'
import { type BookingAccount, type Fold, groundless, type HoldAccount } from './account.ts'
import { type LedgerEntry, moved } from './entry.ts'

/** What is kept under an operation id. Needs the hold as it was before the entry. */
export const foldBooking = (
  fold: Fold,
  keys: SpendingKeys,
  entry: LedgerEntry,
  before: Instant,
): void => {
  const { kind, operationId, reverses, booked, window } = entry
  const set = (id: string, account: BookingAccount): void => {
    const face = { kind: 'booking-drift', what: `${account.verb} ${id}`, window } as const
    fold.set(keys.operation(account.verb, id), { ...face, form: 'booking', booked: account })
  }
  if (kind === 'reverse' && reverses !== undefined && booked !== undefined) {
    // The hold says it.
    if (booked === 'hold') return
    const key = keys.operation(booked, reverses)
    const known = fold.get(key)
    if (known?.form !== 'booking') {
      const face = { kind: 'booking-drift', what: `${booked} ${reverses}`, window } as const
      if (window >= before) fold.set(key, groundless(face, entry))
      return
    }
    const reversed = known.booked.reversed + moved(entry, 'from', 'spent')
    set(reverses, { ...known.booked, reversed })
    return
  }
  const made = operationId === undefined ? undefined : bookedBy(fold, keys, entry)
  if (operationId !== undefined && made !== undefined) set(operationId, made)
}

/** Undefined where nothing can be taken back by its id. */
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
  const charged = moved(entry, 'to', 'spent') - moved(entry, 'from', 'spent')
  const amount = charged + (known?.form === 'hold' ? claimedOf(known.hold, entry, window) : 0n)
  return { verb: 'capture', reversed: 0n, hold, booking: { ...booking, amount } }
}

/** What a settlement had charged already: nothing where it is in a window that was compacted. */
function claimedOf(
  hold: HoldAccount,
  { captured = 0n }: Pick<LedgerEntry, 'captured'>,
  window: Instant,
): bigint {
  return window === hold.window ? claimOf(hold, captured - hold.captured).claimed : 0n
}
