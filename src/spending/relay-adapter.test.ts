import { expect, test } from 'vitest'
import { openSpending } from '../../test/support/open-spending.ts'
import { days } from '../core/time.ts'
import { createRelayLimiter, type RelayQuestion } from './relay-adapter.ts'

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
  expect(await limiter.shouldLimit(...question('0xa1', 300))).toBe(false)
  expect(await limiter.limitError(...question('0xa1', 300))).toBeUndefined()
  await limiter.addExpense(1, '0xa1', { requestId: 'r-1' })
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
