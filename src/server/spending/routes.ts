/** What `/v1/spending/…` answers: the verbs, the report, the ledger, and what its operator does. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { parseDuration } from '../../core/duration.ts'
import { quote, StoreError } from '../../core/errors.ts'
import { describeClock } from '../../core/machine-clock.ts'
import type { Span } from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import {
  chargeExpense,
  type Expense,
  parseAmount,
  parseAnchor,
  type Spending,
  type SpendingAnswer,
  type SpendingCharge,
} from '../../spending/index.ts'
import type { ApiCall, ApiHandlers } from '../app/endpoints.ts'
import { httpMistake } from '../app/problems.ts'
import {
  readTimestamp,
  setRetryAfter,
  toAdmissionBody,
  toBookingBody,
  toReportBody,
  toReversalBody,
  toVerificationBody,
  toWindowBody,
} from './body.ts'
import { requireSpending, type SpendingService } from './open.ts'
import type { SPENDING_SCHEMAS } from './schema.ts'

export const spendingHandlers: ApiHandlers<keyof typeof SPENDING_SCHEMAS> = {
  checkSpending: async (call, { estimate = 0, ...ask }) => {
    const wanted = parseAmount(estimate, 'estimate')
    const answer = await requireSpending(call).spending.check({ ...ask, estimate: wanted })
    setRetryAfter(call.reply, answer)
    return toAdmissionBody(answer)
  },

  holdSpending: async (call, { estimate, holdFor, ...ask }) =>
    answerHold(call, (spending, length) => spending.hold({ ...ask, ...length }), estimate, holdFor),

  extendSpending: async (call, { estimate, holdFor, ...ask }) =>
    answerHold(
      call,
      (spending, length) => spending.extend({ ...ask, ...length }),
      estimate,
      holdFor,
    ),

  captureSpending: async (call, { queue, at, amount, ...ask }) => {
    const spent = parseAmount(amount, 'amount')
    return answerBooking(call, { verb: 'capture', ...ask, amount: spent, at: momentOf(at) }, queue)
  },

  settleSpending: async (call, { queue, at, amount, ...ask }) => {
    const spent = amount === undefined ? undefined : parseAmount(amount, 'amount')
    return answerBooking(call, { verb: 'settle', ...ask, amount: spent, at: momentOf(at) }, queue)
  },

  releaseSpending: async (call, { queue, at, ...ask }) =>
    answerBooking(call, { verb: 'release', ...ask, at: momentOf(at) }, queue),

  recordSpending: async (call, { queue, at, amount, ...ask }) => {
    const spent = parseAmount(amount, 'amount')
    return answerBooking(call, { verb: 'record', ...ask, amount: spent, at: momentOf(at) }, queue)
  },

  reverseSpending: async (call, { amount, ...ask }) => {
    const wanted = amount === undefined ? undefined : parseAmount(amount, 'amount')
    const { spending } = requireSpending(call)
    return toReversalBody(
      await spending.reverse({ ...ask, amount: wanted, actor: call.access.scope }),
    )
  },

  reportSpending: async (call, { window }) => {
    const { spending, settings } = requireSpending(call)
    const start =
      window === undefined ? undefined : readTimestamp(window, 'window', 'QUERY_INVALID')
    return toReportBody(await spending.report(start), settings().unit)
  },

  verifySpending: async (call, { anchor }) =>
    toVerificationBody(
      await requireSpending(call).verify(anchor === undefined ? anchor : parseAnchor(anchor)),
    ),

  exportLedger: async (call, { format = 'jsonl' }) => {
    const lines = requireSpending(call).spending.export(format)
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl'
    call.reply.header('Content-Type', type)
    return Readable.from(withLineEnds(lines))
  },

  pushBalance: async (call, { amount, at }) => {
    const read = parseAmount(amount, 'amount')
    const kept = await requireSpending(call).spending.pushBalance(read, momentOf(at))
    return { amount: kept.amount.toString(), at: toTimestamp(kept.at) }
  },

  openWindow: async (call) => {
    const { spending } = requireSpending(call)
    return toWindowBody(await spending.resetWindow({ actor: call.access.scope }))
  },

  repairClock: async (call, { reason }) => {
    const { spending } = requireSpending(call)
    const { found, now } = await spending.repairClock({ reason, actor: call.access.scope })
    return {
      repaired: !found.trusted,
      now: toTimestamp(now),
      ...(!found.trusted && { found: describeClock(found) }),
    }
  },
}

interface HeldFor {
  readonly estimate: bigint
  readonly holdFor: Span | undefined
  readonly actor: string
}

async function answerHold(
  call: ApiCall,
  ask: (spending: Spending, held: HeldFor) => Promise<SpendingAnswer>,
  estimate: unknown = 0,
  holdFor?: string,
) {
  const answer = await ask(requireSpending(call).spending, {
    estimate: parseAmount(estimate, 'estimate'),
    holdFor: lifetimeOf(holdFor),
    actor: call.access.scope,
  })
  setRetryAfter(call.reply, answer)
  return toAdmissionBody(answer)
}

function lifetimeOf(text: string | undefined): Span | undefined {
  const length = text === undefined ? undefined : parseDuration(text)
  if (text === undefined || length !== undefined) return length
  const rule = 'must be a duration such as 10m'
  throw httpMistake({ code: 'BODY_INVALID', thing: 'holdFor', rule, finding: quote(text) })
}

const momentOf = (at: string | undefined) =>
  at === undefined ? undefined : readTimestamp(at, 'at', 'BODY_INVALID')

async function answerBooking(call: ApiCall, expense: Expense, later = false) {
  const named = { ...expense, actor: call.access.scope }
  const outcome = await bookOrQueue(requireSpending(call), named, later)
  if (outcome.kind === 'booked') return toBookingBody(outcome.answer)
  call.reply.code(202)
  return { queued: true, operationId: outcome.operationId }
}

type BookingOutcome =
  | { readonly kind: 'booked'; readonly answer: SpendingCharge }
  /** On disk: it will be booked under this operation id. */
  | { readonly kind: 'queued'; readonly operationId: string }

/**
 * Books at once; or by the queue, where there is one, if the caller does not wait or the store does
 * not answer: the money is gone already.
 */
async function bookOrQueue(
  { spending, queue }: SpendingService,
  expense: Expense,
  later: boolean,
): Promise<BookingOutcome> {
  if (later && queue === undefined) throw queueOff()
  const named = queue === undefined ? expense : withOperationId(expense)
  const overtakes = 'holdId' in named && queue?.waits(named.holdId) === true
  if ((later || overtakes) && queue !== undefined)
    return { kind: 'queued', operationId: await queue.add(named) }
  try {
    return { kind: 'booked', answer: await chargeExpense(spending, named) }
  } catch (error) {
    if (queue === undefined || !(error instanceof StoreError)) throw error
    return { kind: 'queued', operationId: await queue.add(named) }
  }
}

/** A store that fails may have booked it all the same: only an id makes the repetition harmless. */
function withOperationId(expense: Expense): Expense {
  switch (expense.verb) {
    case 'record':
    case 'capture':
      return { ...expense, operationId: expense.operationId ?? randomUUID() }
    case 'settle':
    case 'release':
      return expense
    default:
      return expense satisfies never
  }
}

const queueOff = () =>
  httpMistake({
    code: 'QUEUE_OFF',
    thing: 'queue',
    rule: 'needs a running server with spending.queueFile in headgate.yml',
    finding: 'none',
  })

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}
