/**
 * Fees to be booked, kept on local disk until they are: capturing never delays the caller, and a
 * crash loses none. What is booked twice is one booking, for every expense carries an operation id.
 */
import { randomUUID } from 'node:crypto'
import { HeadgateError, StoreError } from '../core/errors.ts'
import { parseAmount } from './amount.ts'
import type { BookingAnswer } from './answer.ts'
import type { CaptureAsk, RecordAsk, ReleaseAsk, SettleAsk } from './ask.ts'
import { type DiskQueue, type DiskQueueOptions, openDiskQueue } from './disk-queue.ts'
import { readMoney, writeMoney } from './money-json.ts'
import type { Spending } from './spending.ts'

export type Expense =
  | ({ readonly verb: 'record' } & RecordAsk)
  | ({ readonly verb: 'capture' } & CaptureAsk)
  | ({ readonly verb: 'settle' } & SettleAsk)
  | ({ readonly verb: 'release' } & ReleaseAsk)

export interface CaptureQueue extends Omit<DiskQueue, 'add'> {
  /**
   * Resolves when the expense is on disk, with the operation id it will be booked under. Not when it
   * is booked. Without an id of the caller's own, adding it again is another expense.
   */
  add(expense: Expense): Promise<string>
}

export interface CaptureQueueOptions extends Omit<DiskQueueOptions, 'deliver' | 'isFinal'> {
  readonly spending: Pick<Spending, Expense['verb']>
}

/** Books an expense by its verb. */
export const bookExpense = (
  spending: CaptureQueueOptions['spending'],
  expense: Expense,
): Promise<BookingAnswer> => {
  switch (expense.verb) {
    case 'record':
      return spending.record(expense)
    case 'capture':
      return spending.capture(expense)
    case 'settle':
      return spending.settle(expense)
    case 'release':
      return spending.release(expense)
    default:
      return expense satisfies never
  }
}

export const openCaptureQueue = async (options: CaptureQueueOptions): Promise<CaptureQueue> => {
  const { spending, ...rest } = options
  const queue = await openDiskQueue({
    ...rest,
    deliver: (item) => bookExpense(spending, readMoney<Expense>(item)),
    isFinal: isMistake,
  })
  return {
    ...queue,
    add: async (expense) => {
      const operationId = operationIdOf(expense)
      if ('amount' in expense && expense.amount !== undefined) parseAmount(expense.amount, 'amount')
      await queue.add(writeMoney({ ...expense, operationId }))
      return operationId
    },
  }
}

/** A hold ends once, so ending it needs no id but the hold's. */
function operationIdOf(expense: Expense): string {
  switch (expense.verb) {
    case 'record':
    case 'capture':
      return expense.operationId ?? randomUUID()
    case 'settle':
    case 'release':
      return expense.holdId
    default:
      return expense satisfies never
  }
}

/** An unknown hold stays unknown; a store that is away comes back. */
const isMistake = (error: unknown): boolean =>
  error instanceof HeadgateError && !(error instanceof StoreError)
