/** Booking over a face: at once, or by the queue where the caller does not wait or the store is away. */
import { randomUUID } from 'node:crypto'
import { HeadgateError, StoreError } from '../../core/index.ts'
import { type BookingAnswer, bookExpense, type Expense } from '../../spending/index.ts'
import type { SpendingDesk } from './spending-desk.ts'

export type Booked =
  | { readonly kind: 'booked'; readonly answer: BookingAnswer }
  /** On disk: it will be booked under this operation id. */
  | { readonly kind: 'queued'; readonly operationId: string }

export type QueueOffCode = 'QUEUE_OFF'

/** With a queue, what the store does not take is kept and booked later: the money is gone already. */
export const book = async (
  { spending, queue }: Pick<SpendingDesk, 'spending' | 'queue'>,
  expense: Expense,
  later: boolean,
): Promise<Booked> => {
  if (later && queue === undefined) throw queueOff()
  const named = queue === undefined ? expense : withOperationId(expense)
  if (later && queue !== undefined) return { kind: 'queued', operationId: await queue.add(named) }
  try {
    return { kind: 'booked', answer: await bookExpense(spending, named) }
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

const queueOff = (): HeadgateError<QueueOffCode> =>
  new HeadgateError({
    code: 'QUEUE_OFF',
    thing: 'queue',
    rule: 'needs a running server with spending.queueFile in headgate.yml',
    finding: 'none',
  })
