/** Ending a hold, exactly once: at what was really spent, or with nothing more. */
import { readAllowance } from './allowance.ts'
import { type BookingAnswer, standingsAfter } from './answer.ts'
import { type ReleaseAsk, type SettleAsk, toAmount, toNote } from './ask.ts'
import { settleTo } from './capture.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { closed, type HoldRecord, readHold } from './hold.ts'
import { mistake } from './mistake.ts'
import { nodesOf } from './party.ts'
import { planById } from './resolve.ts'
import { readSheet } from './sheet.ts'

/** The same settlement again changes nothing; another one is a conflict. */
export const settle = (context: Context, ask: SettleAsk): Change<BookingAnswer> => {
  const final = ask.amount === undefined ? 'captured' : toAmount(ask.amount, 'amount')
  const note = toNote(ask)
  const hold = readHold(context, ask.holdId)
  switch (hold.status) {
    case 'released':
      throw closed(hold, 'settle')
    case 'settled':
      if (hold.final === final) return already(context, hold)
      throw mistake(
        'SETTLEMENT_CONFLICT',
        `settlement of hold ${hold.id}`,
        `must be the one that ended it, at ${hold.final}`,
        String(final),
      )
    case 'open':
      return settleTo(context, { ...hold, status: 'settled', final }, { ends: true, note })
    default:
      return hold.status satisfies never
  }
}

/** What was captured stays charged; the rest is free again. */
export const release = (context: Context, ask: ReleaseAsk): Change<BookingAnswer> => {
  const note = toNote(ask)
  const hold = readHold(context, ask.holdId)
  switch (hold.status) {
    case 'settled':
      throw closed(hold, 'release')
    case 'released':
      return already(context, hold)
    case 'open':
      return settleTo(context, { ...hold, status: 'released' }, { ends: true, note })
    default:
      return hold.status satisfies never
  }
}

function already(context: Context, { party, window }: HoldRecord): Change<BookingAnswer> {
  const sheet = readSheet(context, window.startsAt, nodesOf(party))
  const plan = party.plan === undefined ? undefined : planById(context, party.plan)
  const allowance = plan === undefined ? undefined : readAllowance(context, plan, window.startsAt)
  const standings = standingsAfter(context, plan, allowance, window, sheet)
  return unchanged({
    charged: 0n,
    late: false,
    overage: 0n,
    released: 0n,
    ...standings,
    duplicate: true,
  })
}
