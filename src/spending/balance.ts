/** The operator's own balance, as last read: nobody can spend what the payer does not have. */
import type { BudgetLimit } from '../core/budget.ts'
import { after, between, type Instant, type Wait } from '../core/time.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { OUTFLOW } from './keys.ts'
import { readMoney, writeMoney } from './money-json.ts'
import type { SpendingReason } from './reason.ts'
import { readSheet } from './sheet.ts'

export interface BalanceReading {
  readonly amount: bigint
  readonly at: Instant
}

interface KeptReading extends BalanceReading {
  /** What the payer had paid by then, so that what it paid since can be told. */
  readonly spentThen: bigint
}

export interface BalanceRule {
  readonly limit: BudgetLimit
  readonly reason: SpendingReason
  /** By then there is a newer reading, or this one no longer counts. */
  readonly retryIn: Wait
}

/** An older reading than the one kept changes nothing: polls may overtake each other. */
export const keepReading = (
  context: Context,
  amount: bigint,
  readAt?: Instant,
): Change<BalanceReading> => {
  const { view, keys } = context
  const at = readAt === undefined || readAt > view.now ? view.now : readAt
  const kept = readReading(context)
  if (kept !== undefined && kept.at > at) return unchanged({ amount: kept.amount, at: kept.at })
  const spentThen = readSheet(context, context.calendar.window.startsAt, [OUTFLOW]).get(
    OUTFLOW,
  )?.spent
  const reading: KeptReading = { amount, at, spentThen: spentThen ?? 0n }
  return {
    result: { amount, at },
    writes: [{ key: keys.reading, value: writeMoney(reading) }],
    entries: [],
  }
}

export const readReading = ({ view, keys }: Context): KeptReading | undefined => {
  const [value] = view.read(keys.reading)
  return value === undefined ? undefined : readMoney<KeptReading>(value)
}

/**
 * As a limit on all that the payer ever pays: what it had paid when the balance was read, plus
 * that balance, less the floor. Payments and open holds since then count against it by themselves.
 */
export const balanceRule = (context: Context): BalanceRule => {
  const { settings, view } = context
  const { minBalance, maxAge, stale } = settings.operator
  const reading = readReading(context)
  const staleAt = reading && after(reading.at, maxAge)
  // A balance that was never read is as good as one that was read too long ago.
  if (reading === undefined || staleAt === undefined || view.now > staleAt) {
    return stale === 'ignore'
      ? rule('unlimited', 'OPERATOR_BALANCE')
      : rule(0n, 'OPERATOR_BALANCE_STALE')
  }
  const amount = reading.spentThen + reading.amount - minBalance
  return { ...rule(amount, 'OPERATOR_BALANCE'), retryIn: between(view.now, staleAt) }
}

function rule(amount: BudgetLimit['amount'], reason: SpendingReason): BalanceRule {
  return { limit: { kind: 'budget', amount }, reason, retryIn: 'never' }
}
