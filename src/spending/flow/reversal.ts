/**
 * Reversal: takes a booking back, whole or in part, as an entry of its own. Nothing is edited.
 *
 * A booking is named by the operation id of its record or capture; that of a hold names what its settlement
 * charged beyond its captures. It is taken back where it was charged: in its window, from its operation.
 * What the operator has paid is not: only a reading of its balance shows money that came back.
 */
import { quote } from '../../core/errors.ts'
import { amend, checkOperationId, recall } from '../../core/once.ts'
import type { Write } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import { parseAmount } from '../amount.ts'
import type { BookingVerb } from '../ledger/entry.ts'
import { longParty, move, type ShortParty, shortParty } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import { moneyText } from '../money-json.ts'
import { standingsAfter } from '../plans/allowance.ts'
import { forgiveOwed } from '../plans/owed.ts'
import { isCompacted, type SpendingWindow } from '../windows/calendar.ts'
import {
  chargeText,
  heldText,
  type SpendingCharge,
  type Standings,
  takenBackOf,
  withTakenBack,
} from './answer.ts'
import { type Note, noteText, toNote } from './ask.ts'
import {
  budgetsReadBy,
  type Party,
  readBalances,
  shiftBalances,
  writeBalances,
} from './balances.ts'
import { keptIdOf, readHold, writeHold } from './hold.ts'
import {
  type PayerView,
  reversalGuess,
  type SpendingAct,
  type SpendingStep,
  underOperationId,
  untilOf,
} from './step.ts'

export interface ReverseAsk extends Note {
  /** The operation id of what is taken back. */
  readonly of: string
  /** All that is left of it, unless told. */
  readonly amount?: bigint | undefined
  /** For whoever reads the ledger. */
  readonly reason: string
  /** Of the reversal itself: the same id again takes nothing more back. */
  readonly operationId?: string | undefined
}

export interface Reversal extends Standings {
  /** What this call took back. */
  readonly reversed: bigint
  /** What can still be taken back of the booking. */
  readonly left: bigint
  readonly replayed?: true
}

/** What is kept under the operation id of a charge, for its reversal. */
export interface Booking {
  readonly window: SpendingWindow
  /** Who paid, and for what. */
  readonly party: Party
  readonly amount: bigint
  readonly hold?: string | undefined
}

interface BookedCharge extends SpendingCharge {
  readonly booking: Booking
}

/** As it is kept, in short, on a line before the answer. */
interface ShortBooking {
  readonly w: Instant
  /** How long the window is. */
  readonly l: number
  readonly y: ShortParty
  readonly a: string
  readonly h?: string | undefined
}

const bookedText = {
  encode: ({ booking, ...charge }: BookedCharge): string => {
    const { window, party, amount, hold } = booking
    const { startsAt, endsAt } = window
    const y = shortParty(party)
    const short: ShortBooking = { w: startsAt, l: endsAt - startsAt, y, a: `${amount}`, h: hold }
    return `${JSON.stringify(short)}\n${chargeText.encode(charge)}`
  },
  decode: (text: string): BookedCharge => {
    const { answer } = takenBackOf(text)
    const end = answer.indexOf('\n')
    const { w, l, y, a, h }: ShortBooking = JSON.parse(answer.slice(0, end))
    const window = { startsAt: w, endsAt: instant(w + l) }
    const booking = { window, party: longParty(y), amount: BigInt(a), hold: h }
    return { ...chargeText.decode(answer.slice(end + 1)), booking }
  },
}

/** A charge under its operation id, kept with what a reversal must know; callers are not shown that. */
export const underBookingId = (
  once: Parameters<typeof underOperationId>[0],
  step: SpendingStep<BookedCharge>,
): SpendingStep<SpendingCharge> => {
  const counted = underOperationId(once, step, () => bookedText)
  return (view) => {
    const made = counted(view)
    const { booking: _, ...result } = made.result
    return { ...made, result }
  }
}

export const reverseAct = (ask: ReverseAsk): SpendingAct<Reversal> => {
  const id = checkOperationId(ask.of)
  const wanted = ask.amount === undefined ? undefined : parseAmount(ask.amount, 'amount')
  const reason = noteText('reason', ask.reason)
  const note = toNote(ask)
  const { operationId } = ask
  const once = { verb: 'reverse', id: operationId, question: [id, wanted] } as const
  const step: SpendingStep<Reversal> = (view) => {
    const found = findBooking(view, id)
    const amount = wanted ?? found.left
    refuseTooMuch(id, amount, found.left)
    const { booking, verb } = found
    const { window, party, hold } = booking
    const shift = { party, freed: 0n, spent: 0n, unspent: amount }
    const before = readBalances(view, window.startsAt, budgetsReadBy(shift))
    const balances = shiftBalances(before, shift, view.now)
    const { allowance, forgiven, saved } = forgiveOwed(view, party, window.startsAt, amount)
    return {
      result: {
        reversed: amount,
        left: found.left - amount,
        ...standingsAfter(view, allowance, window, balances),
      },
      writes: [
        ...writeBalances(view, window.startsAt, balances),
        found.takeBack(amount),
        ...saved.writes,
      ],
      entries: [
        ...saved.entries,
        {
          kind: 'reverse',
          window: window.startsAt,
          party,
          moves: move('spent', 'available', amount),
          hold,
          operationId,
          until: untilOf(view, operationId),
          reverses: id,
          booked: verb,
          owed: forgiven > 0n ? -forgiven : undefined,
          limit: saved.limit,
          note,
          detail: reason,
        },
      ],
    }
  }
  return {
    guess: reversalGuess(id, once),
    step: underOperationId(once, step, () => moneyText<Reversal>()),
  }
}

interface FoundBooking {
  readonly verb: BookingVerb
  readonly booking: Booking
  readonly left: bigint
  /** Remembers that so much more of it is. */
  takeBack(amount: bigint): Write
}

/** All three are looked up at once: an id may name a hold and its capture. */
function findBooking(view: PayerView, id: string): FoundBooking {
  const found = REVERSIBLE.flatMap((verb) => bookingUnder(view, verb, id) ?? []).filter(
    ({ booking }) => !isCompacted(view.calendar, booking.window),
  )
  const [first] = found
  if (first === undefined) {
    const rule =
      'must be of a record, a capture or a settled hold that is still remembered, in a window that was not compacted'
    throw spendingMistake('BOOKING_NOT_FOUND', `operationId ${quote(id)}`, rule, 'none')
  }
  return found.find(({ left }) => left > 0n) ?? first
}

const REVERSIBLE: readonly BookingVerb[] = ['record', 'capture', 'hold']

function bookingUnder(view: PayerView, verb: BookingVerb, id: string): FoundBooking | undefined {
  const key = view.keys.operation(verb, id)
  const text = recall(view, key)
  if (text === undefined) return undefined
  const { reversed, booking, holdId } = keptBooking(verb, text)
  if (booking !== undefined) {
    const { answer } = takenBackOf(text)
    const takeBack = (more: bigint) => amend(view, key, withTakenBack(reversed + more, answer))
    return { verb, booking, left: booking.amount - reversed, takeBack }
  }
  return holdId === undefined ? undefined : settledUnder(view, holdId)
}

/** The hold itself remembers what was taken back: a capture that comes later must not find it charged. */
function settledUnder(view: PayerView, holdId: string): FoundBooking {
  const hold = readHold(view, holdId)
  const { window, party, charged, captured, takenBack } = hold
  const amount = charged - captured
  return {
    verb: 'hold',
    booking: { window, party, amount, hold: hold.id },
    left: amount - takenBack,
    takeBack: (more) => writeHold(view, { ...hold, takenBack: takenBack + more }),
  }
}

interface KeptBooking {
  /** What was taken back of a record or a capture; a hold knows for itself. */
  readonly reversed: bigint
  /** Of a record or a capture. */
  readonly booking?: Booking
  /** Of a hold, which knows what it was charged. */
  readonly holdId?: string | undefined
}

/** What is kept under an operation id, as far as a reversal goes by it. */
export const keptBooking = (verb: BookingVerb, text: string): KeptBooking => {
  const { sum: reversed, answer } = takenBackOf(text)
  if (verb !== 'hold') return { reversed, booking: bookedText.decode(answer).booking }
  const { holdId = '' } = heldText(undefined).decode(answer)
  return { reversed, holdId: keptIdOf(holdId) }
}

function refuseTooMuch(id: string, amount: bigint, left: bigint): void {
  if (amount > 0n && amount <= left) return
  const rule = `must be more than zero and at most ${left}, what is left of it`
  throw spendingMistake('REVERSAL_INVALID', `reversal of ${id}`, rule, String(amount))
}
