import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalRange, createRangeTable } from './range-table.ts'

test.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3/32', '10.1.2.3'],
  ['2001:DB8::/32', '2001:db8::/32'],
  ['2001:db8::1/128', '2001:db8::1'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['0.0.0.0/0', '0.0.0.0/0'],
])('%s is written %s', (text, canonical) => {
  expect(canonicalRange(text)).toBe(canonical)
})

test.each(['10.0.0.1/8', '2001:db8::1/64', '10.0.0.0/33', '10.0.0', 'example.com', ''])(
  '%j is no range: host bits and other text are not guessed at',
  (text) => {
    expect(canonicalRange(text)).toBeUndefined()
  },
)

test('the narrowest range answers, and an address itself before any range', () => {
  const table = createRangeTable([
    ['0.0.0.0/0', 'everyone'],
    ['10.0.0.0/8', 'wide'],
    ['10.1.0.0/16', 'narrow'],
    ['10.1.0.1', 'one'],
  ])
  expect(table.find('10.1.0.1')).toBe('one')
  expect(table.find('10.1.0.2')).toBe('narrow')
  expect(table.find('10.2.0.2')).toBe('wide')
  expect(table.find('11.0.0.1')).toBe('everyone')
  expect(table.find('::ffff:10.1.0.1')).toBe('one')
})

test('IPv4 ranges say nothing about IPv6 addresses, nor the other way round', () => {
  const table = createRangeTable([
    ['0.0.0.0/0', 4],
    ['2001:db8::/32', 6],
  ])
  expect(table.find('2001:DB8:0::7')).toBe(6)
  expect(table.find('2001:db9::7')).toBeUndefined()
  expect(table.find('no address')).toBeUndefined()
})

test('an address is found exactly in the ranges whose first bits it shares', () => {
  const quad = fc.nat(0xffffffff)
  fc.assert(
    fc.property(quad, quad, fc.integer({ min: 1, max: 31 }), (address, base, bits) => {
      const mask = (0xffffffff << (32 - bits)) >>> 0
      const range = `${dotted((base & mask) >>> 0)}/${bits}`
      const inside = (address & mask) >>> 0 === (base & mask) >>> 0
      const found = createRangeTable([[range, true]]).find(dotted(address))
      expect(found).toBe(inside ? true : undefined)
      expect(createRangeTable([[range, true]]).find(dotted(base))).toBe(true)
    }),
  )
})

const dotted = (value: number): string =>
  [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
