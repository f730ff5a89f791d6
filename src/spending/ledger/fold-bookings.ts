/** Holds and bookings as the ledger tells them: what was kept aside, charged under an operation id, and taken back. */
import type { Instant } from '../../core/time.ts'
import type { Party } from '../flow/balances.ts'
import { claimOf } from '../flow/hold.ts'
import type { SpendingKeys } from '../keys.ts'
import {
  type BookingAccount,
  type Fold,
  groundless,
  type HoldAccount,
  listingAccount,
} from './account.ts'
import { amountOf, type Draw, type LedgerEntry, moved } from './entry.ts'

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

/** A hold as its entries leave it. One whose opening was compacted is not known any more. */
export const foldHold = (
  fold: Fold,
  keys: SpendingKeys,
  entry: LedgerEntry,
  before: Instant,
): void => {
  const { hold: id, kind, party, expiresAt, window, from = window } = entry
  if (id === undefined || party === undefined) return
  if (kind === 'reverse' && entry.booked !== 'hold') return
  const key = keys.hold(id)
  const face = { kind: 'hold-drift', what: `hold ${id}` } as const
  const known = fold.get(key)
  const old = known?.form === 'hold' ? known.hold : undefined
  const hold = kind === 'hold' ? openedBy(entry, party) : old && changedBy(old, entry)
  if (hold === undefined) {
    if (from >= before) fold.set(key, groundless({ ...face, window }, entry))
    return
  }
  fold.set(key, { ...face, form: 'hold', hold })
  if (expiresAt === undefined) return
  const listing = keys.openHold({ id, expiresAt })
  if (kind === 'hold') fold.set(listing, listingAccount({ id, expiresAt }, entry.window))
  else if (hold.status !== 'open') fold.delete(listing)
}

function openedBy(entry: LedgerEntry, party: Party): HoldAccount {
  const { expiresAt = entry.at } = entry
  const amount = moved(entry, 'to', 'held')
  const { window, pins = [] } = entry
  const sums = { amount, open: amount, captured: 0n, charged: 0n, takenBack: 0n }
  return { window, party, expiresAt, pins, ...sums, status: 'open' }
}

function changedBy(hold: HoldAccount, entry: LedgerEntry): HoldAccount {
  if (entry.kind === 'reverse') {
    return { ...hold, takenBack: hold.takenBack + moved(entry, 'from', 'spent') }
  }
  const { kind, captured = hold.captured, final, pins = [], flags } = entry
  const open = hold.open - moved(entry, 'from', 'held')
  const expired = flags?.includes('expired') === true
  return {
    ...hold,
    open,
    pins: expired ? [] : pinsLeft(hold.pins, pins),
    charged: hold.charged + moved(entry, 'to', 'spent') - moved(entry, 'from', 'spent'),
    captured,
    takenBack: claimOf(hold, captured - hold.captured).takenBack,
    ...(final !== undefined && { final }),
    ...(kind === 'settle' && { status: 'settled' }),
    ...(kind === 'release' && { status: 'released' }),
  }
}

const pinsLeft = (pins: readonly Draw[], gone: readonly Draw[]): readonly Draw[] =>
  pins.flatMap(({ grant, amount }) => {
    const left = amount - amountOf(gone, grant)
    return left > 0n ? [{ grant, amount: left }] : []
  })
