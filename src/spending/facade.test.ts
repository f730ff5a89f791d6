import { expect, test } from 'vitest'
import { openSpending } from '../../test/support/open-spending.ts'
import type { Expense } from './capture-queue.ts'
import { createHBarLimitService } from './facade.ts'

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

test('without an exchange rate nobody can say', async () => {
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
