/**
 * Capturing from a hold, and ending it. A hold's charge is the larger of its captures' sum and its
 * settlement, so that messages may come in any order, late, or more than once.
 */
import type { BookingAnswer } from './answer.ts'
import { type CaptureAsk, type Note, toAmount, toNote } from './ask.ts'
import { book } from './booking.ts'
import type { Change, Context } from './context.ts'
import { type Draw, type EntryDraft, type Flag, move } from './entry.ts'
import { closed, type HoldRecord, readHold, writeHold } from './hold.ts'
import { least, most } from './least.ts'
import { once } from './operations.ts'

/** Charges part of a hold and keeps the rest. After a settlement that named less, charges the rest of it. */
export const capture = (context: Context, ask: CaptureAsk): Change<BookingAnswer> => {
  const amount = toAmount(ask.amount, 'amount')
  const note = toNote(ask)
  return once(
    context,
    { verb: 'capture', id: ask.operationId, question: [ask.holdId, amount] },
    () => {
      const hold = readHold(context, ask.holdId)
      if (hold.status === 'released') throw closed(hold, 'capture')
      const next = { ...hold, captured: hold.captured + amount }
      return settleTo(context, next, { ends: false, note, operationId: ask.operationId })
    },
    () => true,
  )
}

export interface Ending {
  /** Nothing stays kept aside. */
  readonly ends: boolean
  readonly note: Note
  readonly operationId?: string | undefined
}

/** Brings what is charged up to what the hold's captures and settlement now say. */
export const settleTo = (
  context: Context,
  hold: HoldRecord,
  ending: Ending,
): Change<BookingAnswer> => {
  const { window, party, expiresAt, amount, open } = hold
  const due = chargedBy(hold)
  const spent = due - hold.charged
  const expired = expiresAt <= context.view.now
  const fromHold = expired ? 0n : least(spent, open)
  const released = ending.ends || expired ? open - fromHold : 0n
  const overage = beyond(due, amount) - beyond(hold.charged, amount)
  const booked = book(context, { party, window, expiresAt, spent, freed: fromHold + released })
  const effect = { spent, fromHold, released, overage, expired, draws: booked.draws }
  const next = { ...hold, charged: due, open: open - fromHold - released }
  return {
    result: {
      charged: spent,
      late: expired,
      overage,
      released: expired ? 0n : released,
      ...booked.standings,
    },
    writes: [...booked.writes, writeHold(context, next)],
    entries: entriesOf(hold, ending, effect),
  }
}

interface Effect {
  readonly spent: bigint
  readonly fromHold: bigint
  readonly released: bigint
  readonly overage: bigint
  readonly expired: boolean
  readonly draws: readonly Draw[]
}

function entriesOf(hold: HoldRecord, ending: Ending, effect: Effect): readonly EntryDraft[] {
  const { window, party, expiresAt } = hold
  const { ends, note, operationId } = ending
  const { spent, fromHold, released, overage, expired, draws } = effect
  const common = { window: window.startsAt, party, hold: hold.id, expiresAt, note, operationId }
  const flags: Flag[] = [...(expired ? LATE : []), ...(overage > 0n ? OVERAGE : [])]
  const captured: EntryDraft = {
    ...common,
    kind: 'capture',
    moves: [...move('held', 'spent', fromHold), ...move('available', 'spent', spent - fromHold)],
    flags: flags.length === 0 ? undefined : flags,
    draws: draws.length === 0 ? undefined : draws,
  }
  const freed: EntryDraft = {
    ...common,
    kind: 'release',
    moves: move('held', 'available', released),
    flags: expired ? ['expired'] : undefined,
  }
  // A release also where nothing is given back: the books show how every hold ended.
  return [...(spent > 0n ? [captured] : []), ...(released > 0n || ends ? [freed] : [])]
}

const LATE: readonly Flag[] = ['late']
const OVERAGE: readonly Flag[] = ['overage']

function chargedBy({ captured, final }: HoldRecord): bigint {
  return typeof final === 'bigint' ? most(final, captured) : captured
}

function beyond(amount: bigint, limit: bigint): bigint {
  return most(0n, amount - limit)
}
