/** Recording what was already spent: it is charged even past every limit, for the money is gone. */
import { isOff, offAnswer } from './admission.ts'
import type { BookingAnswer } from './answer.ts'
import { type RecordAsk, toAmount, toNote, toWho } from './ask.ts'
import { book } from './booking.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { move } from './entry.ts'
import { once } from './operations.ts'
import { resolve } from './resolve.ts'

/** In the current window. Without an operation id, the same message twice counts twice. */
export const record = (context: Context, ask: RecordAsk): Change<BookingAnswer> => {
  const who = toWho(ask)
  const amount = toAmount(ask.amount, 'amount')
  const note = toNote(ask)
  if (isOff(context)) return unchanged(nothingBooked(context))
  const question = [who.address, who.ip, who.operation, who.mode, amount]
  return once<BookingAnswer>(
    context,
    { verb: 'record', id: ask.operationId, question },
    () => {
      const { window } = context.calendar
      const { party, links } = resolve(context, who)
      const booked = book(context, { party, window, spent: amount, freed: 0n })
      return {
        result: {
          charged: amount,
          late: false,
          overage: 0n,
          released: 0n,
          ...booked.standings,
        },
        writes: [...booked.writes, ...links],
        entries: [
          {
            kind: 'capture',
            window: window.startsAt,
            party,
            moves: move('available', 'spent', amount),
            operationId: ask.operationId,
            note,
            draws: booked.draws.length === 0 ? undefined : booked.draws,
          },
        ],
      }
    },
    () => true,
  )
}

function nothingBooked(context: Context): BookingAnswer {
  const { plan, total, window } = offAnswer(context)
  return { charged: 0n, late: false, overage: 0n, released: 0n, plan, total, window }
}
