import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { memory } from '../../stores/memory/index.ts'
import { limiter } from '../limiter/typed-limiter.ts'
import { clientRules } from './id-format.ts'

const idOf = (text: string, bits = 64) => clientRules(bits).bucketId(text)
const groups = (value: bigint): string =>
  Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  ).join(':')
const ipv6 = fc.bigInt({ min: 1n << 96n, max: (1n << 128n) - 1n })

describe('the id of a client', () => {
  test('five addresses of one /64 have one bucket, in a program', async () => {
    const limits = { Logins: { burst: 5, period: '1h', id: 'client' } } as const
    const logins = limiter({ store: memory(), limits })
    const left: number[] = []
    for (const host of [':1', ':2', ':3:4', 'ffff:ffff:ffff:ffff', 'a::b']) {
      left.push((await logins.spend('Logins', `2001:db8:1:2:${host}`)).remaining)
    }
    expect(left).toEqual([4, 3, 2, 1, 0])
    expect((await logins.spend('Logins', '2001:db8:1:2::9')).allowed).toBe(false)
    expect((await logins.spend('Logins', '2001:db8:1:3::9')).remaining).toBe(4)
  })

  test('two IPv6 addresses are one client exactly if they share the prefix', () => {
    fc.assert(
      fc.property(ipv6, ipv6, fc.integer({ min: 32, max: 64 }), (a, b, bits) => {
        const host = BigInt(128 - bits)
        const near = ((a >> host) << host) | (b & ((1n << host) - 1n))
        expect(idOf(groups(near), bits)).toBe(idOf(groups(a), bits))
        expect(idOf(groups(a), bits) === idOf(groups(b), bits)).toBe(a >> host === b >> host)
      }),
    )
  })

  test('every IPv4 address is a client of its own, mapped to IPv6 or not', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), (a, b) => {
        expect(idOf(a)).toBe(a)
        expect(idOf(`::ffff:${a}`)).toBe(a)
        expect(idOf(a) === idOf(b)).toBe(a === b)
      }),
    )
  })

  test('is the same with a zone, a port, brackets, or as the range it is kept as', () => {
    for (const text of ['2001:db8:1:2::', '[2001:db8:1:2::5]:443', '2001:db8:1:2::5%eth0']) {
      expect(idOf(text)).toBe('2001:db8:1:2::')
    }
    expect(idOf('2001:db8:1:2::/64')).toBe('2001:db8:1:2::')
    // A gate in front may count by a narrower prefix than the limit.
    expect(idOf('2001:db8:1:2ff::/64', 56)).toBe('2001:db8:1:200::')
    expect(idOf('203.0.113.7/32')).toBe('203.0.113.7')
  })

  test('may be unknown: all such clients share one bucket', () => {
    expect(idOf('unknown')).toBe('unknown')
  })

  test.each([
    '',
    'ann',
    '203.0.113',
    '203.0.113.0/24',
    '2001:db8::/32',
    '2001:db8:1:2::1/64',
    '2001:db8::/x',
  ])('%j is none', (text) => {
    expect(idOf(text)).toMatchObject({ rule: expect.stringContaining('the address of a client') })
  })
})

describe('an override for a client', () => {
  const rule = clientRules(56).overrideId

  test('is an address, or a range of the same prefix', () => {
    expect(rule('2001:db8:1:200::/56')).toBe('2001:db8:1:200::')
    expect(rule('2001:db8:1:2ff::5')).toBe('2001:db8:1:200::')
    expect(rule('203.0.113.7')).toBe('203.0.113.7')
  })

  test.each(['2001:db8:1:200::/64', '2001:db8:1::/48', '2001:db8:1:201::/56', '10.0.0.0/8'])(
    '%s would cover more or less than it says, and is refused',
    (text) => {
      expect(rule(text)).toMatchObject({ rule: expect.stringContaining('with a /56 mask') })
    },
  )

  test('is met by every address of its network', async () => {
    const mine = limiter({
      store: memory(),
      limits: { Logins: { burst: 1, period: '1h', id: 'client', ipv6Prefix: 48 } },
      overrides: { Logins: { burst: 9, period: '1h', ids: ['2001:db8:7::/48'] } },
    })
    expect((await mine.spend('Logins', '2001:db8:7:ffff::1')).remaining).toBe(8)
    expect((await mine.spend('Logins', '2001:db8:7:1::2')).remaining).toBe(7)
    expect((await mine.spend('Logins', '2001:db8:8::1')).remaining).toBe(0)
  })
})

test.each([
  [{ id: 'client', ipv6Prefix: 65 }, 'must be at most 64'],
  [{ id: 'client', ipv6Prefix: 31 }, 'must be a whole number of at least 32'],
  [{ id: 'ipAddress', ipv6Prefix: 56 }, 'must be given only beside id: client'],
  [{ ipv6Prefix: 56 }, 'must be given only beside id: client'],
] as const)('%j is refused', (fields, rule) => {
  const limits = { Logins: { burst: 1, period: '1h', ...fields } }
  expect(mistakeOf(() => limiter({ store: memory(), limits }))).toMatchObject({ rule })
})
