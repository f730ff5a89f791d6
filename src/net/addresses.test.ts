import { isIPv4, isIPv6 as nodeIsIPv6 } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalAddress } from './addresses.ts'

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['2001:0db8:0000:0000:0000:ff00:0042:8329', '2001:db8::ff00:42:8329'],
  ['2001:DB8::1', '2001:db8::1'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
])('%s is written %s', (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical)
})

test.each(['::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:1.2.3.4', '0:0:0:0:0:ffff:102:304'])(
  '%s is IPv4-mapped, and so the IPv4 address itself',
  (text) => {
    expect(canonicalAddress(text)).toBe('1.2.3.4')
  },
)

test('an IPv4-compatible address is not an IPv4-mapped one', () => {
  expect(canonicalAddress('::1.2.3.4')).toBe('::102:304')
})

test.each([
  '',
  ' ',
  '1.1.1',
  '1.1.1.1.1',
  '01.1.1.1',
  '0x1.1.1.1',
  '16843009',
  '256.1.1.1',
  '1.1.1.1 ',
  '1.1.1.1\n',
  '1.1.1.1.',
  '1.1.1.1/32',
  '[::1]',
  'fe80::1%eth0',
  '1::2::3',
  ':::',
  '12345::',
  '::1.2.3',
  '::1.2.3.256',
  '1.2.3.4::',
  '١.1.1.1',
  'example.com',
  ':'.repeat(10_000),
])('%j is no address', (text) => {
  expect(canonicalAddress(text)).toBeUndefined()
})

test('accepts exactly what Node takes for an address, zones aside', () => {
  const noise = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.'), maxLength: 24 })
  const text = fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6(), noise)
  fc.assert(
    fc.property(text, (address) => {
      expect(canonicalAddress(address) !== undefined).toBe(isIPv4(address) || nodeIsIPv6(address))
    }),
    { numRuns: 2_000 },
  )
})

test('the canonical form of a canonical form is itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const canonical = canonicalAddress(address) ?? ''
      expect(canonicalAddress(canonical)).toBe(canonical)
    }),
  )
})
