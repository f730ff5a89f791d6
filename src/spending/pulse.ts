/** What operators watch: how much is left, held and in the operator's account, all of one moment. */
import { type Instant, instant } from '../core/time.ts'
import { type Standing, totalStanding } from './answer.ts'
import { type BalanceReading, readReading } from './balance.ts'
import type { SpendingWindow } from './calendar.ts'
import type { Context } from './context.ts'
import { OUTFLOW } from './keys.ts'
import { TOTAL } from './party.ts'
import { heldIn, readSheet } from './sheet.ts'

export interface Pulse {
  readonly now: Instant
  readonly window: SpendingWindow
  readonly total: Standing
  /** Of every window: a hold that was made before the turn is still open. */
  readonly held: bigint
  /** When the first of the open holds ends by itself; undefined while none is open. */
  readonly firstExpiry: Instant | undefined
  readonly balance: BalanceReading | undefined
}

export const pulseOf = (context: Context): Pulse => {
  const { view, calendar } = context
  const sheet = readSheet(context, calendar.window.startsAt, [TOTAL, OUTFLOW])
  const outflow = sheet.get(OUTFLOW)
  const open = (outflow?.held ?? []).map(({ expiresAt }) => expiresAt).filter((at) => at > view.now)
  const reading = readReading(context)
  return {
    now: view.now,
    window: calendar.window,
    total: totalStanding(context, sheet),
    held: heldIn(outflow, view.now),
    firstExpiry: open.length === 0 ? undefined : instant(Math.min(...open)),
    balance: reading && { amount: reading.amount, at: reading.at },
  }
}
