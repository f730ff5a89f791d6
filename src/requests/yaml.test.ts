import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { ACME } from './acme/formats.ts'
import { parseCatalog } from './yaml.ts'

test('limits in text need no form of ids: they are any text', () => {
  const catalog = parseCatalog({ limits: 'Logins: { burst: 3, period: 1m }' })
  expect(catalog.resolve({ limit: 'Logins', id: 'ann' })).toMatchObject({
    key: 'Logins:ann',
    limit: { burst: 3, count: 3 },
  })
})

test('a mistake is told with its line and column', () => {
  const { code, at } = mistakeOf(() =>
    parseCatalog({ limits: 'Logins:\n  burst: 0\n  period: 1m' }),
  )
  expect([code, at]).toEqual(['FIELD_VALUE', { file: 'limits', line: 2, column: 10 }])
})

test('the limits of ACME servers are known in their vocabulary only', () => {
  const defaults = 'NewOrdersPerAccount: { burst: 300, count: 300, period: 180m }'
  expect(mistakeOf(() => parseCatalog({ defaults })).code).toBe('LIMIT_UNKNOWN')
  const catalog = parseCatalog({ defaults, vocabulary: ACME })
  expect(catalog.resolve({ limit: 'NewOrdersPerAccount', id: '12' }).key).toBe('3:12')
})
