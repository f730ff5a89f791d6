/**
 * Where a relay asks and pays: a question that is let through keeps its estimate aside, and the expenses of
 * its request are captured from that, so that parallel requests cannot overspend together.
 */
import { hours, type Span, type Uptime } from '../../core/time.ts'
import { uptime } from '../../lib/clock.ts'
import { parseAmount } from '../amount.ts'
import type { SpendingAnswer } from '../flow/answer.ts'
import type { Note, Purpose } from '../flow/ask.ts'
import { type CaptureQueue, chargeExpense, type Expense } from '../operator/capture-queue.ts'
import type { Spending } from '../spending.ts'

/** A number only as far as it is exact. */
export type Tinybars = bigint | number | string

/** Of a relay's own logger, the part that is used here. */
export interface RelayLogger {
  debug(message: string): void
  warn(message: string): void
}

type RelayVerb = 'isEnabled' | 'check' | 'hold' | 'resetWindow' | Expense['verb']

export interface RelayDeskOptions {
  readonly spending: Pick<Spending, RelayVerb>
  /** Where expenses wait without delaying the caller; without one they go to the store at once. */
  readonly expenses?: Pick<CaptureQueue, 'add'>
  /** What a question is taken to cost that names no estimate. */
  readonly defaultEstimate?: Tinybars
  readonly logger?: RelayLogger
}

/** What an expense was for; what it does not name is as its request asked. */
export interface PaidFor
  extends Omit<Note, 'actor'>,
    Pick<Purpose, 'operation' | 'mode' | 'family'> {}

interface RelayDesk {
  ask(
    purpose: Purpose,
    request: { readonly requestId?: string | undefined; readonly estimate?: Tinybars | undefined },
  ): Promise<SpendingAnswer>
  pay(amount: Tinybars, caller: Purpose, paidFor: PaidFor): Promise<void>
  finish(requestId: string): Promise<void>
}

export const relayDesk = (options: RelayDeskOptions): RelayDesk => {
  const { spending, expenses, logger } = options
  const { defaultEstimate } = options
  const standard =
    defaultEstimate === undefined ? undefined : parseAmount(defaultEstimate, 'defaultEstimate')
  const requests = relayRequests(uptime)
  let warned = false

  async function charge(expense: Expense): Promise<void> {
    if (!spending.isEnabled()) return
    if (expenses === undefined) await chargeExpense(spending, expense)
    else await expenses.add(expense)
  }

  /** Nothing is kept aside for it: parallel requests may each be told that there is room. */
  function warnOnce(): void {
    if (warned) return
    warned = true
    logger?.warn(
      'shouldLimit holds nothing without an estimate and a request id: parallel requests can overspend; set defaultEstimate',
    )
  }

  return {
    ask: async (given, { requestId, estimate }) => {
      const purpose = known(given)
      const wanted = estimate === undefined ? standard : parseAmount(estimate, 'estimate')
      const holds = wanted !== undefined && (requestId !== undefined || standard !== undefined)
      if (!holds) warnOnce()
      const question = { ...purpose, estimate: wanted ?? 0n }
      const answer = holds
        ? await spending.hold({ ...question, requestId })
        : await spending.check(question)
      if (!answer.allowed) logger?.debug(`HBAR limit reached: ${answer.reason}, ${answer.budget}`)
      else if (holds || requestId !== undefined) {
        requests.add(requestId ?? callerKey(purpose), { purpose, holdId: answer.holdId })
      }
      return answer
    },

    pay: async (given, caller, paidFor) => {
      const amount = parseAmount(given, 'amount')
      const { requestId, operation, mode, family, ...note } = paidFor
      const from = known(caller)
      const asked =
        requestId === undefined
          ? requests.take(callerKey(from))
          : requests.find(requestId, operation)
      const operationId = note.transactionId && `${note.transactionId}/${mode ?? 'TRANSACTION'}`
      const told = { amount, operation, mode, family, operationId, ...note, requestId }
      const { holdId, purpose = {} } = asked ?? {}
      if (holdId === undefined) {
        await charge({ verb: 'record', ...told, ...recordedFor(from, told, purpose) })
        return
      }
      await charge({ verb: 'capture', holdId, ...told })
      // Without a request there is one expense for each question, so that this was all.
      if (requestId === undefined) await charge({ verb: 'settle', holdId })
    },

    finish: async (requestId) => {
      for (const { holdId } of requests.end(requestId)) {
        if (holdId !== undefined) await charge({ verb: 'settle', holdId, requestId })
      }
    },
  }
}

/** A relay passes empty text for what it does not know. From any other caller that is a mistake. */
function known({ from, ip, ...matter }: Purpose): Purpose {
  return { ...matter, from: from === '' ? undefined : from, ip: ip === '' ? undefined : ip }
}

/** A caller that names no request: a question and its expense are paired by who asked. */
function callerKey({ from = '', ip = '' }: Purpose): string {
  return `${from.toLowerCase()} ${ip}`
}

/** What the expense does not tell is as its request asked. */
function recordedFor(caller: Purpose, told: Purpose, asked: Purpose): Purpose {
  return {
    from: caller.from ?? asked.from,
    ip: caller.ip ?? asked.ip,
    operation: told.operation ?? asked.operation,
    mode: told.mode ?? asked.mode,
  }
}

/** One question of a request that was let through. */
interface AskedFor {
  readonly purpose: Purpose
  /** Absent where nothing was kept aside. */
  readonly holdId?: string | undefined
}

/**
 * What a relay has asked and not yet paid, by request: the holds that its expenses are captured from.
 *
 * In this process only. What is forgotten here is not lost: its hold expires, and its expense is recorded.
 */
interface RelayRequests {
  add(request: string, asked: AskedFor): void
  /** What an expense of the request belongs to: what was asked for that operation, else the last. */
  find(request: string, operation: string | undefined): AskedFor | undefined
  /** The newest, which is then forgotten: older ones may have paid nothing, and expire. */
  take(request: string): AskedFor | undefined
  /** All of them; then they are forgotten. */
  end(request: string): readonly AskedFor[]
}

/** Requests under way at once; beyond that the oldest is forgotten. */
const MAX_REQUESTS = 100_000

/** Longer than requests take, and most holds last. */
const REMEMBERED = hours(1)

interface Remembered {
  readonly since: Span
  readonly asked: readonly AskedFor[]
}

export const relayRequests = (uptime: Uptime): RelayRequests => {
  /** In the order of their last question. */
  const requests = new Map<string, Remembered>()
  const askedIn = (request: string): readonly AskedFor[] => requests.get(request)?.asked ?? []

  function forgetOldest(): void {
    const now = uptime()
    for (const [request, { since }] of requests) {
      if (now - since < REMEMBERED && requests.size <= MAX_REQUESTS) return
      requests.delete(request)
    }
  }

  return {
    add: (request, asked) => {
      const before = askedIn(request)
      requests.delete(request)
      requests.set(request, { since: uptime(), asked: [...before, asked] })
      forgetOldest()
    },
    find: (request, operation) => {
      const asked = askedIn(request)
      const same = asked.findLast(({ purpose }) => purpose.operation === operation)
      return same ?? asked.at(-1)
    },
    take: (request) => {
      const known = requests.get(request)
      if (known === undefined) return undefined
      const rest = known.asked.slice(0, -1)
      if (rest.length > 0) requests.set(request, { ...known, asked: rest })
      else requests.delete(request)
      return known.asked.at(-1)
    },
    end: (request) => {
      const asked = askedIn(request)
      requests.delete(request)
      return asked
    },
  }
}
