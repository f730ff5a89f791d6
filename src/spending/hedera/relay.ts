/**
 * Spending for a relay, in the words of two designs: the service of the HBAR limiter, and the
 * arguments and JSON-RPC error of a relay's own limiter. Both hold what they let through.
 */
import { toMillis } from '../../core/time.ts'
import type { SpendingAnswer } from '../flow/answer.ts'
import type { SpendingMode } from '../flow/ask.ts'
import { rateOf } from './exchange-rate.ts'
import { estimateFileFee, type FeeTableName } from './fee-estimate.ts'
import { type PaidFor, type RelayDeskOptions, relayDesk, type Tinybars } from './relay-desk.ts'

/** What a question is about, beyond the two arguments of the design. */
export interface RelayRequest {
  /** Expenses and `finish` name it again. */
  readonly requestId: string
  /** What it may cost; `defaultEstimate` unless told. */
  readonly estimate?: Tinybars | undefined
  readonly operation?: string | undefined
  readonly mode?: SpendingMode | undefined
}

/** What was paid, as the client of the network knows it. */
export interface NetworkFee {
  readonly fee: Tinybars
  /** The name of the transaction's or query's class. */
  readonly operation: string
  /** Tells a repetition from another fee. */
  readonly transactionId?: string | undefined
}

/** Resolves when the fee is safe, on disk or in the store. */
type CaptureFees = (
  paid: NetworkFee,
  callerName: string,
  interactingEntity: string,
  requestId?: string,
) => Promise<void>

/** What both designs have in common. */
interface RelayBooks {
  /** False while no total is set: then nothing is limited and nothing counted. */
  isEnabled(): boolean
  /** What a transaction cost, for the request that it was part of. */
  captureTransactionFees: CaptureFees
  captureQueryFees: CaptureFees
  /** Ends what the request holds, at what was captured. Without it holds expire. */
  finish(requestId: string): Promise<void>
}

export interface HBarLimitService extends RelayBooks {
  /**
   * Whether this caller has too little left. With a request, and with `defaultEstimate` also without,
   * what it lets through is kept aside; else it holds nothing, and two callers may get the same answer.
   */
  shouldLimit(txFrom: string, ip?: string, request?: RelayRequest): Promise<boolean>
  /**
   * Whether the files for this call data would cost more than the operator has left. No caller is
   * named, so plans are not asked. Rejects with EXCHANGE_RATE_UNAVAILABLE without a rate.
   */
  shouldPreemptivelyLimitFileTransactions: FileQuestion
  /** The same, in the spelling of the design. */
  shouldPreemtivelyLimitFileTransactions: FileQuestion
  /** Opens a new window now. */
  resetLimiter(): Promise<void>
  /** Charges what was spent; resolves when it is safe, on disk or in the store. Never refuses a real expense. */
  addExpense(amount: Tinybars, txFrom: string, ip?: string, paidFor?: PaidFor): Promise<void>
}

type FileQuestion = (
  callDataSize: number,
  fileChunkSize: number,
  currentNetworkExchangeRateInCents: number,
) => Promise<boolean>

interface HBarLimitServiceOptions extends RelayDeskOptions {
  readonly feeTable?: FeeTableName
}

export const createHBarLimitService = (options: HBarLimitServiceOptions): HBarLimitService => {
  const { spending, feeTable = 'current' } = options
  const desk = relayDesk(options)
  const isOverFileFee: FileQuestion = async (callDataSize, chunkSize, centsPerHbar) => {
    if (!spending.isEnabled()) return false
    const rate = rateOf(centsPerHbar)
    const estimate = estimateFileFee({ callDataSize, chunkSize, rate, table: feeTable })
    const { allowed } = await spending.check({ estimate, operation: FILE_OPERATION })
    return !allowed
  }
  return {
    ...relayBooks(options, desk),
    shouldLimit: async (from, ip, request) => {
      const { requestId, estimate, operation, mode } = request ?? {}
      const answer = await desk.ask({ from, ip, operation, mode }, { requestId, estimate })
      return !answer.allowed
    },
    shouldPreemptivelyLimitFileTransactions: isOverFileFee,
    shouldPreemtivelyLimitFileTransactions: isOverFileFee,
    resetLimiter: async () => {
      await spending.resetWindow()
    },
    addExpense: (amount, from, ip, paidFor = {}) => desk.pay(amount, { from, ip }, paidFor),
  }
}

function relayBooks(
  { spending }: RelayDeskOptions,
  desk: ReturnType<typeof relayDesk>,
): RelayBooks {
  const capture =
    (mode: SpendingMode): CaptureFees =>
    (paid, caller, interactingEntity, requestId) => {
      const { fee, operation, transactionId } = paid
      const named = { operation, mode, transactionId, caller, interactingEntity, requestId }
      return desk.pay(fee, {}, named)
    }
  return {
    isEnabled: () => spending.isEnabled(),
    captureTransactionFees: capture('TRANSACTION'),
    captureQueryFees: capture('QUERY'),
    finish: desk.finish,
  }
}

/** Most of what the estimate pays for: all but the first chunk. */
const FILE_OPERATION = 'FileAppendTransaction'

/** Of the relay's `RequestDetails`, the part that matters here. */
interface RequestDetails {
  readonly ipAddress?: string | undefined
  readonly requestId?: string | undefined
}

export interface RelayLimiter extends RelayBooks {
  /** Keeps the estimated fee aside where there is one and the request has an id. */
  shouldLimit(...question: RelayQuestion): Promise<boolean>
  /** The same question, answered with the error to send; undefined if there is none. */
  limitError(...question: RelayQuestion): Promise<HbarLimitError | undefined>
  /** Resolves when the expense is safe, on disk or in the store. */
  addExpense(
    cost: Tinybars,
    evmAddress: string,
    requestDetails: RequestDetails,
    paidFor?: Omit<PaidFor, 'requestId'>,
  ): Promise<void>
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

export const createRelayLimiter = (options: RelayDeskOptions): RelayLimiter => {
  const { spending } = options
  const desk = relayDesk(options)
  const ask = ([mode, , operation, from, details, estimate]: RelayQuestion) => {
    const { ipAddress: ip, requestId } = details
    return desk.ask({ from, ip, operation, mode }, { requestId, estimate })
  }
  return {
    ...relayBooks(options, desk),
    shouldLimit: async (...question) => !(await ask(question)).allowed,
    limitError: async (...question) => toLimitError(await ask(question)),
    addExpense: (cost, from, { ipAddress: ip, requestId }, paidFor) =>
      desk.pay(cost, { from, ip }, { ...paidFor, requestId }),
    resetLimiter: async (details) => {
      await spending.resetWindow({ requestId: details?.requestId })
    },
  }
}

/** For a check or a hold, so that a relay that holds answers alike. */
export const toLimitError = (answer: SpendingAnswer): HbarLimitError | undefined => {
  const { reason, retryIn } = answer
  if (answer.allowed || reason === null) return undefined
  const retryAfterMs = retryIn === 'never' ? null : toMillis(retryIn)
  const data = { reason, retryAfterMs }
  return { code: HBAR_LIMIT_EXCEEDED, message: 'HBAR Rate limit exceeded', data }
}
