import { expect, test } from 'vitest'
import { testHeadgate } from '../../../test/support/headgate.ts'
import { parseCatalog } from '../../requests/index.ts'
import { MAX_HEADER_ITEMS } from './bounds.ts'
import { rateHeaders } from './rate-headers.ts'

test('the policy names the burst and the time in which an empty bucket fills', async () => {
  const { limiter } = testHeadgate()
  const answer = await limiter.spend({ limit: 'NewOrdersPerAccount', id: '1' })
  expect(rateHeaders(answer)).toEqual({
    policy: '"NewOrdersPerAccount";q=300;w=10800',
    state: '"NewOrdersPerAccount";r=299;t=36',
    retryAfter: undefined,
  })
})

test('times are rounded up to whole seconds', async () => {
  const limits = 'Quick: { id: opaque, burst: 3, count: 1000, period: 1s }'
  const { limiter } = testHeadgate({ catalog: parseCatalog({ limits }) })
  const spent = await limiter.spend({ limit: 'Quick', id: 'a', cost: 3 })
  expect(rateHeaders(spent)).toMatchObject({ policy: '"Quick";q=3;w=1', state: '"Quick";r=0;t=1' })
  expect(rateHeaders(await limiter.spend({ limit: 'Quick', id: 'a' })).retryAfter).toBe('1')
})

test('after a refusal the wait is that of the cost that was refused, and Retry-After is no earlier', async () => {
  const { limiter } = testHeadgate()
  await limiter.spend({ limit: 'PerKey', id: 'a', cost: 2 })
  expect(rateHeaders(await limiter.spend({ limit: 'PerKey', id: 'a', cost: 3 }))).toMatchObject({
    state: '"PerKey";r=1;t=20',
    retryAfter: '20',
  })
})

test('of several ids of one limit the one that binds first is shown', async () => {
  const { limiter } = testHeadgate()
  await limiter.spend({ limit: 'PerKey', id: 'b', cost: 2 })
  const charges = ['a', 'b', 'c'].map((id) => ({ limit: 'PerKey', id }))
  expect(rateHeaders(await limiter.spend({ charges })).state).toBe('"PerKey";r=0;t=30')
})

test('many limits are shown up to a bound', async () => {
  const names = Array.from({ length: MAX_HEADER_ITEMS + 4 }, (_, i) => `L${i}`)
  const limits = names.map((name) => `${name}: { id: opaque, burst: 1, count: 1, period: 1s }`)
  const { limiter } = testHeadgate({ catalog: parseCatalog({ limits: limits.join('\n') }) })
  const answer = await limiter.spend({ charges: names.map((limit) => ({ limit, id: 'a' })) })
  expect(rateHeaders(answer).state?.split(', ')).toHaveLength(MAX_HEADER_ITEMS)
})

test('numbers beyond fifteen digits are shown as the largest that the format has', async () => {
  const limits = 'Vast: { id: opaque, burst: 4000000000000000, count: 1000000, period: 1s }'
  const { limiter } = testHeadgate({ catalog: parseCatalog({ limits }) })
  expect(rateHeaders(await limiter.spend({ limit: 'Vast', id: 'a' })).policy).toBe(
    '"Vast";q=999999999999999;w=4000000000',
  )
})
