import { describe, expect, test } from 'vitest'
import { openSpending } from '../../../test/support/open-spending.ts'
import { days } from '../../core/time.ts'
import type { Expense } from '../operator/capture-queue.ts'
import { createHBarLimitService, createRelayLimiter, type RelayQuestion } from './relay.ts'

describe('the service of the HBAR limiter', () => {
  test('a caller is limited when its plan is spent, by address or by IP', async () => {
    const service = createHBarLimitService({ spending: openSpending() })
    expect(await service.shouldLimit('0xA1')).toBe(false)
    await service.addExpense(300, '0xa1')
    expect(await service.shouldLimit('0xA1')).toBe(true)
    expect(await service.shouldLimit('0xb1')).toBe(false)
    await service.addExpense('300', '', '10.0.0.1')
    expect(await service.shouldLimit('', '10.0.0.1')).toBe(true)
  })

  test('a new window forgives', async () => {
    const service = createHBarLimitService({ spending: openSpending() })
    await service.addExpense(300n, '0xa1')
    await service.resetLimiter()
    expect(await service.shouldLimit('0xa1')).toBe(false)
  })

  test('files that would cost more than is left are limited beforehand, in either spelling', async () => {
    const spending = openSpending({ total: 447_191_667n })
    const service = createHBarLimitService({ spending })
    expect(await service.shouldPreemptivelyLimitFileTransactions(6_000, 5_120, 12)).toBe(false)
    expect(await service.shouldPreemtivelyLimitFileTransactions(6_001, 5_120, 12)).toBe(true)
    const old = createHBarLimitService({ spending, feeTable: 'legacy' })
    expect(await old.shouldPreemptivelyLimitFileTransactions(13_312, 5_120, 12)).toBe(false)
  })

  test('without an exchange rate there is no answer', async () => {
    const service = createHBarLimitService({ spending: openSpending() })
    const asked = service.shouldPreemptivelyLimitFileTransactions(6_000, 5_120, 0)
    await expect(asked).rejects.toMatchObject({ code: 'EXCHANGE_RATE_UNAVAILABLE' })
  })

  test('with no total it is off: nothing is limited, nothing counted, no rate needed', async () => {
    const service = createHBarLimitService({ spending: openSpending({ total: 0n }) })
    expect(service.isEnabled()).toBe(false)
    await service.addExpense(5_000, '0xa1')
    expect(await service.shouldLimit('0xa1')).toBe(false)
    expect(await service.shouldPreemptivelyLimitFileTransactions(6_000, 5_120, 0)).toBe(false)
  })

  test.each([-60, 1.5, Number.NaN, '1e3', 2 ** 53])(
    'an expense of %s is a mistake',
    async (amount) => {
      const service = createHBarLimitService({ spending: openSpending() })
      await expect(service.addExpense(amount, '0xa1')).rejects.toMatchObject({
        code: 'AMOUNT_INVALID',
      })
    },
  )

  test('with a queue, expenses go there and the store is not waited for', async () => {
    const added: Expense[] = []
    const expenses = { add: async (expense: Expense) => String(added.push(expense)) }
    const service = createHBarLimitService({ spending: openSpending(), expenses })
    await service.addExpense(40, '0xa1', '10.0.0.1')
    expect(added).toEqual([{ verb: 'record', from: '0xa1', ip: '10.0.0.1', amount: 40n }])
  })
})

describe('a request of the service', () => {
  const request = (requestId: string, estimate = 300n) => ({
    requestId,
    estimate,
    operation: 'EthereumTransaction',
  })

  test('holds: of five in parallel that want all that is left, one is let through', async () => {
    const service = createHBarLimitService({ spending: openSpending() })
    const ids = ['r-1', 'r-2', 'r-3', 'r-4', 'r-5']
    const limited = await Promise.all(
      ids.map((id) => service.shouldLimit('0xa1', '10.0.0.1', request(id))),
    )
    expect(limited.filter((refused) => !refused)).toHaveLength(1)
  })

  test('is paid expense by expense, each for its operation, and gives the rest back when it is finished', async () => {
    const spending = openSpending()
    const service = createHBarLimitService({ spending })
    await service.shouldLimit('0xa1', undefined, request('r-1'))
    const paid = { requestId: 'r-1', operation: 'FileCreateTransaction' }
    await service.addExpense(100, '0xa1', undefined, paid)
    await service.captureTransactionFees(
      { fee: 40, operation: 'FileAppendTransaction', transactionId: '0.0.2@1' },
      'eth_sendRawTransaction',
      '0xc0',
      'r-1',
    )
    await service.captureQueryFees({ fee: 3, operation: 'FileInfoQuery' }, 'me', '0xc0', 'r-1')
    expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({
      spent: 143n,
      held: 157n,
    })
    await service.finish('r-1')
    expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({
      spent: 143n,
      held: 0n,
    })
    expect(await spending.report()).toMatchObject({
      byOperation: { FileCreateTransaction: 100n, FileAppendTransaction: 40n, FileInfoQuery: 3n },
      byMode: { TRANSACTION: 140n, QUERY: 3n },
    })
  })

  test('that nobody asked for is recorded, and one that was asked before is paid by its caller', async () => {
    const spending = openSpending()
    const service = createHBarLimitService({ spending })
    await service.captureTransactionFees({ fee: 5, operation: 'FileCreate' }, 'me', 'x', 'unknown')
    expect((await spending.report()).byOperation).toEqual({ FileCreate: 5n })
  })

  test('the same transaction told twice is charged once', async () => {
    const spending = openSpending()
    const service = createHBarLimitService({ spending })
    await service.shouldLimit('0xa1', undefined, request('r-1'))
    const fee = { fee: 40, operation: 'FileCreate', transactionId: '0.0.2@1' }
    await service.captureTransactionFees(fee, 'me', 'x', 'r-1')
    await service.captureTransactionFees(fee, 'me', 'x', 'r-1')
    expect((await spending.standing({ from: '0xa1' })).plan?.spent).toBe(40n)
  })
})

describe('the two arguments of the design', () => {
  test('hold the default estimate, until their expense comes', async () => {
    const spending = openSpending()
    const service = createHBarLimitService({ spending, defaultEstimate: 300 })
    const limited = await Promise.all([1, 2, 3, 4, 5].map(() => service.shouldLimit('0xa1')))
    expect(limited.filter((refused) => !refused)).toHaveLength(1)
    await service.addExpense(100, '0xA1')
    expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({
      spent: 100n,
      held: 0n,
    })
  })

  test('hold nothing without one, and the log says so once', async () => {
    const warnings: string[] = []
    const logger = { debug: () => {}, warn: (message: string) => warnings.push(message) }
    const spending = openSpending()
    const service = createHBarLimitService({ spending, logger })
    await service.shouldLimit('0xa1')
    await service.shouldLimit('0xa1')
    expect(warnings).toHaveLength(1)
    expect((await spending.standing({ from: '0xa1' })).plan?.held).toBe(0n)
  })
})

describe('the limiter of a JSON-RPC relay', () => {
  const question = (evmAddress: string, fee?: number): RelayQuestion => [
    'TRANSACTION',
    'eth_sendRawTransaction',
    'EthereumTransaction',
    evmAddress,
    { ipAddress: '10.0.0.1', requestId: 'r-1' },
    fee,
  ]

  test('the relay asks and tells with its own arguments', async () => {
    const limiter = createRelayLimiter({ spending: openSpending() })
    expect(limiter.isEnabled()).toBe(true)
    expect(await limiter.shouldLimit(...question('0xa1', 200))).toBe(false)
    expect(await limiter.limitError(...question('0xa1', 100))).toBeUndefined()
    expect(await limiter.shouldLimit(...question('0xa1', 1))).toBe(true)
    await limiter.addExpense(1, '0xa1', { requestId: 'r-1' })
    await limiter.finish('r-1')
    expect(await limiter.shouldLimit(...question('0xa1', 300))).toBe(true)
    expect(await limiter.shouldLimit(...question('0xa1'))).toBe(false)
  })

  test('a refusal is the JSON-RPC error -32606 with its reason and when to try again', async () => {
    const limiter = createRelayLimiter({ spending: openSpending() })
    await limiter.addExpense(300, '0xa1', {})
    const error = await limiter.limitError(...question('0xa1'))
    expect(error).toMatchObject({
      code: -32606,
      message: 'HBAR Rate limit exceeded',
      data: { reason: 'PLAN_LIMIT' },
    })
    expect(error?.data.retryAfterMs).toBeGreaterThan(0)
    expect(error?.data.retryAfterMs).toBeLessThanOrEqual(days(1) / 1_000)
  })

  test('where waiting does not help, no time is given', async () => {
    const limiter = createRelayLimiter({ spending: openSpending() })
    const error = await limiter.limitError(...question('0xa1', 301))
    expect(error?.data).toEqual({ reason: 'PLAN_LIMIT', retryAfterMs: null })
  })

  test('a relay that knows neither address nor IP asks for the total alone', async () => {
    const limiter = createRelayLimiter({ spending: openSpending() })
    const ask: RelayQuestion = ['QUERY', 'eth_call', 'FileInfoQuery', '', {}, 1_000]
    expect(await limiter.shouldLimit(...ask)).toBe(false)
    await limiter.addExpense(1, '', {})
    expect((await limiter.limitError(...ask))?.data.reason).toBe('TOTAL_BUDGET')
  })

  test('after a reset there is room again', async () => {
    const limiter = createRelayLimiter({ spending: openSpending() })
    await limiter.addExpense(300, '0xa1', {})
    await limiter.resetLimiter({ requestId: 'r-2' })
    expect(await limiter.shouldLimit(...question('0xa1'))).toBe(false)
  })

  test('an expense is queued where there is a queue, and none is where spending is off', async () => {
    const added: unknown[] = []
    const expenses = { add: async (expense: unknown) => String(added.push(expense)) }
    await createRelayLimiter({ spending: openSpending(), expenses }).addExpense(7, '0xa1', {})
    const off = createRelayLimiter({ spending: openSpending({ total: 0n }), expenses })
    await off.addExpense(7, '0xa1', {})
    expect(added).toHaveLength(1)
  })

  test('limits of operations bind: expenses land on what their request asked for', async () => {
    const categories = new Map([['FileAppendTransaction', 50n]])
    const spending = openSpending({ categories })
    const limiter = createRelayLimiter({ spending })
    const answers: boolean[] = []
    for (const requestId of ['r-1', 'r-2', 'r-3', 'r-4']) {
      const details = { requestId }
      const ask = ['TRANSACTION', 'eth_x', 'FileAppendTransaction', '0xa1', details, 40] as const
      const refused = await limiter.shouldLimit(...ask)
      if (!refused) await limiter.addExpense(40, '0xa1', details)
      answers.push(refused)
    }
    expect(answers).toEqual([false, true, true, true])
    expect((await spending.report()).byOperation).toEqual({ FileAppendTransaction: 40n })
  })

  test('they bind also where no fee is estimated, after the first expense', async () => {
    const categories = new Map([['FileAppendTransaction', 50n]])
    const spending = openSpending({ categories })
    const limiter = createRelayLimiter({ spending })
    const ask = (requestId: string) =>
      limiter.shouldLimit('TRANSACTION', 'eth_x', 'FileAppendTransaction', '0xa1', { requestId })
    expect(await ask('r-1')).toBe(false)
    await limiter.addExpense(60, '0xa1', { requestId: 'r-1' })
    expect(await ask('r-2')).toBe(true)
  })

  test('an expense may name another operation than its request asked for', async () => {
    const spending = openSpending()
    const limiter = createRelayLimiter({ spending })
    await limiter.shouldLimit(...question('0xa1', 100))
    const details = { requestId: 'r-1' }
    await limiter.addExpense(40, '0xa1', details, { operation: 'FileCreateTransaction' })
    await limiter.addExpense(7, '0xa1', details)
    expect((await spending.report()).byOperation).toEqual({
      EthereumTransaction: 7n,
      FileCreateTransaction: 40n,
    })
  })
})
