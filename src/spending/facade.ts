/** Spending as the design of the HBAR limiter names it: the service that a relay asks and tells. */

import { parseAmount } from './amount.ts'
import type { Purpose } from './ask.ts'
import type { CaptureQueue } from './capture-queue.ts'
import { rateOf } from './exchange-rate.ts'
import { estimateFileFee, type FeeTableName } from './fee-estimate.ts'
import type { Spending } from './spending.ts'

export interface HBarLimitService {
  /** False while no total is set: then nothing is limited and nothing counted. */
  isEnabled(): boolean
  /** Whether this caller has nothing left. Holds nothing: two callers may be told the same. */
  shouldLimit(txFrom: string, ip?: string): Promise<boolean>
  /**
   * Whether the files for this call data would cost more than the operator has left. Nobody is named,
   * so plans are not asked. Rejects with EXCHANGE_RATE_UNAVAILABLE where the rate is none.
   */
  shouldPreemptivelyLimitFileTransactions: FileQuestion
  /** The same, in the spelling of the design. */
  shouldPreemtivelyLimitFileTransactions: FileQuestion
  /** Opens a new window now. */
  resetLimiter(): Promise<void>
  /** Books what was spent; resolves when it is safe, on disk or in the store. Never refuses a real expense. */
  addExpense(amount: Tinybars, txFrom: string, ip?: string): Promise<void>
}

export type FileQuestion = (
  callDataSize: number,
  fileChunkSize: number,
  currentNetworkExchangeRateInCents: number,
) => Promise<boolean>

/** A number only as far as it is exact. */
export type Tinybars = bigint | number | string

export interface HBarLimitServiceOptions {
  readonly spending: Pick<Spending, 'isEnabled' | 'check' | 'record' | 'resetWindow'>
  /** Where expenses wait without delaying the caller; without one they go to the store at once. */
  readonly expenses?: Pick<CaptureQueue, 'add'>
  readonly feeTable?: FeeTableName
}

export const createHBarLimitService = (options: HBarLimitServiceOptions): HBarLimitService => {
  const { spending, expenses, feeTable = 'current' } = options
  const isOverFileFee: FileQuestion = async (callDataSize, chunkSize, centsPerHbar) => {
    if (!spending.isEnabled()) return false
    const rate = rateOf(centsPerHbar)
    const estimate = estimateFileFee({ callDataSize, chunkSize, rate, table: feeTable })
    const { allowed } = await spending.check({ estimate, operation: FILE_OPERATION })
    return !allowed
  }
  return {
    isEnabled: () => spending.isEnabled(),
    shouldLimit: async (from, ip) => !(await spending.check(callerOf(from, ip))).allowed,
    shouldPreemptivelyLimitFileTransactions: isOverFileFee,
    shouldPreemtivelyLimitFileTransactions: isOverFileFee,
    resetLimiter: async () => {
      await spending.resetWindow()
    },
    addExpense: async (amount, from, ip) => {
      const expense = { ...callerOf(from, ip), amount: parseAmount(amount, 'amount') }
      if (!spending.isEnabled()) return
      await (expenses === undefined
        ? spending.record(expense)
        : expenses.add({ verb: 'record', ...expense }))
    },
  }
}

/** Relays say nothing for what they do not know, as an empty text. Anyone else's empty text is a mistake. */
export const callerOf = (
  from: string | undefined,
  ip: string | undefined,
): Pick<Purpose, 'from' | 'ip'> => ({
  from: from === '' ? undefined : from,
  ip: ip === '' ? undefined : ip,
})

/** Most of what the estimate pays for: all but the first chunk. */
const FILE_OPERATION = 'FileAppendTransaction'
