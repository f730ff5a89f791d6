import { describe, expect, test } from 'vitest'
import { vectors } from '../../test/support/vectors.ts'
import { reservedRangeOf } from './address-ids.ts'

describe('reserved ranges', () => {
  const { prefixes } = vectors<{ prefixes: readonly { prefix: string; name: string }[] }>(
    'boulder/reserved_prefixes.json',
  )

  test.each(prefixes.filter(({ prefix }) => !prefix.startsWith('::ffff:')))(
    '$prefix is reserved',
    ({ prefix }) => {
      expect(reservedRangeOf(prefix.slice(0, prefix.indexOf('/')))).toBeDefined()
    },
  )

  test('the most specific range is named', () => {
    expect(reservedRangeOf('10.1.2.3')).toBe('10.0.0.0/8 (Private-Use)')
    expect(reservedRangeOf('255.255.255.255')).toBe('255.255.255.255/32 (Limited Broadcast)')
    expect(reservedRangeOf('2001::1')).toBe('2001::/32 (TEREDO)')
  })

  test('a range that contains a reserved one is touched by it', () => {
    expect(reservedRangeOf('::/48')).toBeDefined()
    expect(reservedRangeOf('2602:80a:6000::/48')).toBeUndefined()
  })

  test.each(['8.8.8.8', '224.0.0.1', 'ff02::1', '64.112.117.1', 'example.com'])(
    '%s is in none',
    (text) => {
      expect(reservedRangeOf(text)).toBeUndefined()
    },
  )
})
