/** The operator's own balance, as last read: what the payer does not have cannot be spent. */
import type { BudgetLimit, BudgetState } from '../../core/budget.ts'
import { wholeAmount } from '../../core/numbers.ts'
import type { Write } from '../../core/store.ts'
import {
  after,
  between,
  type Instant,
  instant,
  type Span,
  seconds,
  type Wait,
} from '../../core/time.ts'
import { type Poller, startPoller, type Timers } from '../../lib/poller.ts'
import type { SpendingReason } from '../flow/answer.ts'
import { readBalances } from '../flow/balances.ts'
import { type PayerView, readingGuess, type SpendingAct, unchanged } from '../flow/step.ts'
import type { MirrorNode } from '../hedera/mirror-node.ts'
import { OUTFLOW } from '../keys.ts'
import type { KeptReading } from '../ledger/entry.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import type { BalanceSource } from '../settings/readers.ts'
import type { Spending } from '../spending.ts'

export interface BalanceReading {
  readonly amount: bigint
  readonly at: Instant
}

interface BalanceRule {
  readonly limit: BudgetLimit
  readonly reason: SpendingReason
  /** By then there is a newer reading, or this one no longer counts. */
  readonly retryIn: Wait
}

/**
 * An older reading than the one kept changes nothing: polls may overtake each other. One that is told
 * late counts against what was paid when it was read, not when it was told.
 */
export const readingAct = (amount: bigint, readAt?: Instant): SpendingAct<BalanceReading> => ({
  guess: readingGuess,
  step: (view) => {
    const at = readAt === undefined || readAt > view.now ? view.now : readAt
    const kept = readReading(view)
    if (kept !== undefined && kept.at > at) return unchanged({ amount: kept.amount, at: kept.at })
    const { startsAt } = view.calendar.window
    const spent = readBalances(view, startsAt, [OUTFLOW]).get(OUTFLOW)?.spent ?? 0n
    const spentThen = at === view.now ? spent : spentBy(at, marksIn(readMarks(view)), spent)
    const reading: KeptReading = { amount, at, spentThen }
    return {
      result: { amount, at },
      writes: [{ key: view.keys.reading, value: writeMoney(reading) }],
      entries: [{ kind: 'reading', window: startsAt, moves: [], reading }],
    }
  },
})

/** Charges that came close together, and what the payer had paid before them. */
interface Mark {
  readonly from: Instant
  /** They all came before then. */
  readonly until: Instant
  readonly spent: bigint
}

/** Charges of one moment share a mark: a busy payer writes one a second, not one for each charge. */
const MOMENT: Span = seconds(1)

/** Writes down what was paid before this charge, if it is the first of its moment. */
export const markOutflow = (
  view: PayerView,
  outflow: BudgetState | undefined,
): readonly Write[] => {
  const value = readMarks(view)
  const from = instant(Math.floor(view.now / MOMENT) * MOMENT)
  // Asked of the text: most charges are not the first, and need no more of it.
  if (value.startsWith(`${from}:`, value.lastIndexOf(' ') + 1)) return []
  const marks = marksIn(value)
  const added = { from, until: after(from, MOMENT), spent: outflow?.spent ?? 0n }
  const kept = thinned([...marks, added], view)
  const text = kept.map((mark) => `${mark.from}:${mark.until}:${mark.spent}`).join(' ')
  return [{ key: view.keys.marks, value: text }]
}

/** The older, the fewer: some thirty cover the time for which a reading counts. */
function thinned(marks: readonly Mark[], { now, settings }: PayerView): readonly Mark[] {
  const kept: Mark[] = []
  const oldest = now - settings.operator.maxAge
  for (const [i, mark] of marks.entries()) {
    const [last, next] = [kept.at(-1), marks[i + 1]]
    if (next !== undefined && next.from <= oldest) continue
    const merges =
      last !== undefined && next !== undefined && mark.until - last.from <= (now - next.from) / 2
    if (merges) kept.splice(-1, 1, { ...last, until: mark.until })
    else kept.push(mark)
  }
  return kept
}

/**
 * What had been paid by a time. Of charges that share a mark, some may have come before that time and
 * some after: all count as after, so a reading never makes more spendable than there is.
 */
function spentBy(at: Instant, marks: readonly Mark[], spent: bigint): bigint {
  const [first] = marks
  // From before the first mark that is left, what was paid by then is not known.
  if (first !== undefined && at < first.from) return 0n
  return marks.find(({ until }) => until > at)?.spent ?? spent
}

const readMarks = ({ read, keys }: PayerView): string => read(keys.marks)[0] ?? ''

function marksIn(value: string): readonly Mark[] {
  if (value === '') return []
  return value.split(' ').map((text) => {
    const [from = '', until = '', spent = ''] = text.split(':')
    return {
      from: instant(Number(from)),
      until: instant(Number(until)),
      spent: wholeAmount(spent),
    }
  })
}

export const readReading = ({ read, keys }: PayerView): KeptReading | undefined => {
  const [value] = read(keys.reading)
  return value === undefined ? undefined : readMoney<KeptReading>(value)
}

/**
 * As a limit on all that the payer ever pays: what it had paid when the balance was read, plus
 * that balance, less the floor. Payments and open holds since then count against it by themselves.
 */
export const balanceRule = (view: PayerView): BalanceRule => {
  const { minBalance, maxAge, stale } = view.settings.operator
  const reading = readReading(view)
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

export interface BalancePollOptions extends Pick<BalanceSource, 'account' | 'every'> {
  readonly mirrorNode: Pick<MirrorNode, 'balance'>
  readonly spending: Pick<Spending, 'pushBalance'>
  /** Called when the mirror node or the store failed. The last reading ages meanwhile. */
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

/** Reads the balance from a mirror node again and again, and pushes it to spending. */
export const startBalancePoll = (options: BalancePollOptions): Poller => {
  const { mirrorNode, account, spending, ...rest } = options
  return startPoller({
    ...rest,
    ask: () => mirrorNode.balance(account),
    // With the network's time, not ours: a mirror node that lags reports an old balance, not a new one.
    onAnswer: async ({ amount, at }) => {
      await spending.pushBalance(amount, at)
    },
  })
}
