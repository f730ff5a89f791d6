import { expect, test } from 'vitest'
import { acmeCatalog } from '../../test/support/acme-catalog.ts'
import { testHeadgate } from '../../test/support/headgate.ts'
import {
  fieldInteger,
  fieldString,
  MAX_FIELD_INTEGER,
  MAX_HEADER_ITEMS,
  rateFields,
  rateHeaders,
} from './headers.ts'

test('the policy names the burst and the time in which an empty bucket fills', async () => {
  const { limiter } = testHeadgate()
  const answer = await limiter.spend({ limit: 'NewOrdersPerAccount', id: '1' })
  expect(rateFields(answer)).toEqual({
    policy: '"NewOrdersPerAccount";q=300;w=10800',
    state: '"NewOrdersPerAccount";r=299;t=36',
    retryAfter: undefined,
  })
})

test('are a plain record, which holds only what applies', async () => {
  const { limiter } = testHeadgate()
  const ask = { limit: 'PerKey', id: 'a', cost: 3 }
  expect(rateHeaders(await limiter.spend(ask), 'https://a.test/help')).toEqual({
    'RateLimit-Policy': '"PerKey";q=3;w=30',
    RateLimit: '"PerKey";r=0;t=30',
  })
  const refused = rateHeaders(await limiter.spend(ask), 'https://a.test/help')
  expect(new Headers(refused).get('retry-after')).toBe('30')
  expect(refused['Link']).toBe('<https://a.test/help>; rel="help"')
})

test('times are rounded up to whole seconds', async () => {
  const limits = 'Quick: { id: opaque, burst: 3, count: 1000, period: 1s }'
  const { limiter } = testHeadgate({ catalog: acmeCatalog({ limits }) })
  const spent = await limiter.spend({ limit: 'Quick', id: 'a', cost: 3 })
  expect(rateFields(spent)).toMatchObject({ policy: '"Quick";q=3;w=1', state: '"Quick";r=0;t=1' })
  expect(rateFields(await limiter.spend({ limit: 'Quick', id: 'a' })).retryAfter).toBe('1')
})

test('after a refusal the wait is that of the cost that was refused, and Retry-After is no earlier', async () => {
  const { limiter } = testHeadgate()
  await limiter.spend({ limit: 'PerKey', id: 'a', cost: 2 })
  expect(rateFields(await limiter.spend({ limit: 'PerKey', id: 'a', cost: 3 }))).toMatchObject({
    state: '"PerKey";r=1;t=20',
    retryAfter: '20',
  })
})

test('of several ids of one limit the one that binds first is shown', async () => {
  const { limiter } = testHeadgate()
  await limiter.spend({ limit: 'PerKey', id: 'b', cost: 2 })
  const charges = ['a', 'b', 'c'].map((id) => ({ limit: 'PerKey', id }))
  expect(rateFields(await limiter.spend({ charges })).state).toBe('"PerKey";r=0;t=30')
})

test('many limits are shown up to a bound', async () => {
  const names = Array.from({ length: MAX_HEADER_ITEMS + 4 }, (_, i) => `L${i}`)
  const limits = names.map((name) => `${name}: { id: opaque, burst: 1, count: 1, period: 1s }`)
  const { limiter } = testHeadgate({ catalog: acmeCatalog({ limits: limits.join('\n') }) })
  const answer = await limiter.spend({ charges: names.map((limit) => ({ limit, id: 'a' })) })
  expect(rateFields(answer).state?.split(', ')).toHaveLength(MAX_HEADER_ITEMS)
})

test('numbers beyond fifteen digits are shown as the largest that the format has', async () => {
  const limits = 'Vast: { id: opaque, burst: 4000000000000000, count: 1000000, period: 1s }'
  const { limiter } = testHeadgate({ catalog: acmeCatalog({ limits }) })
  expect(rateFields(await limiter.spend({ limit: 'Vast', id: 'a' })).policy).toBe(
    '"Vast";q=999999999999999;w=4000000000',
  )
})

test('a plain name is quoted', () => {
  expect(fieldString('NewOrdersPerAccount')).toBe('"NewOrdersPerAccount"')
})

test('quotes and backslashes are escaped', () => {
  expect(fieldString('a"b\\c')).toBe('"a\\"b\\\\c"')
})

test('what is not printable ASCII cannot be written, and no header is forged with it', () => {
  expect(() => fieldString('a\r\nSet-Cookie: b')).toThrow('printable ASCII')
  expect(() => fieldString('é')).toThrow('printable ASCII')
})

test('integers stop at fifteen digits', () => {
  expect(fieldInteger(300)).toBe(300)
  expect(fieldInteger(2 ** 52)).toBe(MAX_FIELD_INTEGER)
})
