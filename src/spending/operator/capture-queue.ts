/**
 * Fees to be charged, kept on local disk until they are: the caller never waits for the store, and a
 * crash loses none. What is delivered twice is charged once: every expense has an operation id. Those of
 * one hold are charged in the order in which they were added, and each as of when it was added.
 */
import { randomUUID } from 'node:crypto'
import { HeadgateError, StoreError } from '../../core/errors.ts'
import {
  type DiskQueue,
  type DiskQueueOptions,
  openDiskQueue,
} from '../../lib/disk-queue/disk-queue.ts'
import { parseAmount } from '../amount.ts'
import type { SpendingCharge } from '../flow/answer.ts'
import type { CaptureAsk, RecordAsk, ReleaseAsk, SettleAsk } from '../flow/ask.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import type { Spending } from '../spending.ts'

export type Expense =
  | ({ readonly verb: 'record' } & RecordAsk)
  | ({ readonly verb: 'capture' } & CaptureAsk)
  | ({ readonly verb: 'settle' } & SettleAsk)
  | ({ readonly verb: 'release' } & ReleaseAsk)

export interface CaptureQueue extends Omit<DiskQueue, 'add'> {
  /**
   * Resolves when the expense is on disk, with the operation id it will be charged under. Not when it
   * is charged. Without an id of the caller's own, adding it again is another expense.
   */
  add(expense: Expense): Promise<string>
  /** Whether an expense of this hold is still to be charged. */
  waits(holdId: string): boolean
}

export interface CaptureQueueOptions extends Omit<DiskQueueOptions, 'deliver' | 'isFinal'> {
  readonly spending: Pick<Spending, Expense['verb']>
}

/** Charges an expense by its verb. */
export const chargeExpense = (
  spending: CaptureQueueOptions['spending'],
  expense: Expense,
): Promise<SpendingCharge> => {
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
    deliver: (item) => chargeExpense(spending, readMoney<Expense>(item)),
    laneOf: (item) => laneOf(readMoney<Expense>(item)),
    isFinal: isMistake,
  })
  return {
    ...queue,
    add: async (expense) => {
      const operationId = operationIdOf(expense)
      if ('amount' in expense && expense.amount !== undefined) parseAmount(expense.amount, 'amount')
      await queue.add(writeMoney({ ...expense, operationId, at: expense.at ?? rest.clock() }))
      return operationId
    },
  }
}

/** A release that overtook a capture would leave it uncharged. */
const laneOf = (expense: Expense): string | undefined =>
  expense.verb === 'record' ? undefined : expense.holdId

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

/** An unknown hold stays unknown; a store that is down comes back. */
const isMistake = (error: unknown): boolean =>
  error instanceof HeadgateError && !(error instanceof StoreError)
