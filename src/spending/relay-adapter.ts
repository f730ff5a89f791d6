/** Spending for a JSON-RPC relay, with the arguments of its own limiter and the answer of its own protocol. */
import { toMillis } from '../core/time.ts'
import { parseAmount } from './amount.ts'
import type { SpendingAnswer } from './answer.ts'
import type { CheckAsk, SpendingMode } from './ask.ts'
import type { CaptureQueue } from './capture-queue.ts'
import { callerOf, type Tinybars } from './facade.ts'
import type { Spending } from './spending.ts'

/** Of the relay's `RequestDetails`, the part that matters here. */
export interface RequestDetails {
  readonly ipAddress?: string | undefined
  readonly requestId?: string | undefined
}

export interface RelayLimiter {
  isEnabled(): boolean
  shouldLimit(...question: RelayQuestion): Promise<boolean>
  /** The same question, answered with the error to send; undefined if there is none. */
  limitError(...question: RelayQuestion): Promise<HbarLimitError | undefined>
  /** Resolves when the expense is safe, on disk or in the store. */
  addExpense(cost: Tinybars, evmAddress: string, requestDetails: RequestDetails): Promise<void>
  resetLimiter(requestDetails?: RequestDetails): Promise<void>
}

export type RelayQuestion = readonly [
  mode: SpendingMode,
  /** The JSON-RPC method, such as `eth_sendRawTransaction`. Decides nothing here. */
  methodName: string,
  txConstructorName: string,
  /** Empty if the relay does not know it. */
  evmAddress: string,
  requestDetails: RequestDetails,
  estimatedTxFee?: Tinybars | undefined,
]

/** A JSON-RPC error object. */
export interface HbarLimitError {
  readonly code: typeof HBAR_LIMIT_EXCEEDED
  readonly message: string
  readonly data: {
    readonly reason: NonNullable<SpendingAnswer['reason']>
    /** Null where waiting does not help. */
    readonly retryAfterMs: number | null
  }
}

/** The relay's code for it, among those that JSON-RPC leaves to servers. */
export const HBAR_LIMIT_EXCEEDED = -32606

export interface RelayLimiterOptions {
  readonly spending: Pick<Spending, 'isEnabled' | 'check' | 'record' | 'resetWindow'>
  /** Where expenses wait without delaying the caller; without one they go to the store at once. */
  readonly expenses?: Pick<CaptureQueue, 'add'>
}

export const createRelayLimiter = ({ spending, expenses }: RelayLimiterOptions): RelayLimiter => ({
  isEnabled: () => spending.isEnabled(),
  shouldLimit: async (...question) => !(await spending.check(toAsk(question))).allowed,
  limitError: async (...question) => toLimitError(await spending.check(toAsk(question))),
  addExpense: async (cost, evmAddress, { ipAddress, requestId }) => {
    const amount = parseAmount(cost, 'cost')
    if (!spending.isEnabled()) return
    const expense = { ...callerOf(evmAddress, ipAddress), amount, requestId }
    await (expenses === undefined
      ? spending.record(expense)
      : expenses.add({ verb: 'record', ...expense }))
  },
  resetLimiter: async (details) => {
    await spending.resetWindow({ requestId: details?.requestId })
  },
})

/** For an admission of any verb, so that a relay that holds answers alike. */
export const toLimitError = (answer: SpendingAnswer): HbarLimitError | undefined => {
  const { reason, retryIn } = answer
  if (answer.allowed || reason === null) return undefined
  const retryAfterMs = retryIn === 'never' ? null : toMillis(retryIn)
  const data = { reason, retryAfterMs }
  return { code: HBAR_LIMIT_EXCEEDED, message: 'HBAR Rate limit exceeded', data }
}

function toAsk([mode, , operation, from, details, estimate = 0n]: RelayQuestion): CheckAsk {
  const caller = callerOf(from, details.ipAddress)
  return { mode, operation, ...caller, estimate: parseAmount(estimate, 'estimatedTxFee') }
}
