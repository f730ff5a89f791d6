import { expect, test } from 'vitest'
import { DENIALS } from '../../../test/support/boulder-differences.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { days, instant, span } from '../../core/time.ts'
import type { Bucket } from '../catalog/definition.ts'
import { describeDenial } from './denial.ts'

interface Case {
  readonly limit: string
  readonly burst: number
  readonly periodNs: string
  readonly bucketKey: string
  readonly message?: string
}

const { cases } = vectors<{ cases: readonly Case[] }>('boulder/errors.json')
const LINK = 'https://letsencrypt.org/docs/rate-limits/'

const bucket = (
  name: string,
  key: string,
  burst: number,
  period = days(1),
): Omit<Bucket, 'tag'> => ({
  definition: { name, idFormat: 'opaque', onStoreFailure: 'closed', overrideCount: 0 },
  id: key.slice(key.indexOf(':') + 1),
  key,
  limit: { kind: 'gcra', burst, count: burst, period },
  source: 'default',
})

test.each(cases)('$limit tells of $bucketKey', ({ limit, burst, periodNs, bucketKey, message }) => {
  const asked = bucket(limit, bucketKey, burst, span(Number(periodNs) / 1_000))
  const expected = DENIALS[bucketKey]?.message ?? message
  expect(describeDenial(asked, instant(0), LINK)).toBe(expected)
})

test('without a page of explanations nothing is linked', () => {
  expect(describeDenial(bucket('NewOrdersPerAccount', '3:1', 300), instant(0))).toBe(
    'too many new orders (300) from this account in the last 24h0m0s, ' +
      'retry after 1970-01-01 00:00:00 UTC',
  )
})

test('a declared limit is named, with the id', () => {
  const asked = bucket('NewFoosPerIPAddress', 'NewFoosPerIPAddress:10.0.0.1', 20)
  expect(describeDenial(asked, instant(0), LINK)).toBe(
    'too many requests (20) for "10.0.0.1" under NewFoosPerIPAddress in the last 24h0m0s, ' +
      'retry after 1970-01-01 00:00:00 UTC',
  )
})

test('the time is rounded up: whoever comes back then does not come too early', () => {
  const asked = bucket('NewOrdersPerAccount', '3:1', 300)
  expect(describeDenial(asked, instant(1_000_001))).toContain('retry after 1970-01-01 00:00:02 UTC')
})
