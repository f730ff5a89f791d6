import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:DB8:1:2::', '2001:db8:1:2::'],
  ['::1', '::'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::'],
  ['[::1]', '::'],
  ['fe80::1%eth0', 'fe80::'],
  ['::ffff:203.0.113.7%3', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
])('%s counts by %s', (ip, counted) => {
  expect(clientAddress(ip)).toBe(counted)
})

test('a network may be wider than a /64, also within a group of digits', () => {
  expect(clientAddress('2001:db8:1:2ff::5', 56)).toBe('2001:db8:1:200::')
  expect(clientAddress('2001:db8:1:2ff::5', 48)).toBe('2001:db8:1::')
  expect(clientAddress('2001:db8:1:2ff::5', 32)).toBe('2001:db8::')
  expect(clientAddress('203.0.113.7', 32)).toBe('203.0.113.7')
})

test.each(['', 'unknown', '::ffff:1.2.3', '::ffff:', '1.2.3:80', '[::1', '%eth0', '2001:db8::/64'])(
  '%j is no address',
  (ip) => {
    expect(clientAddress(ip)).toBeUndefined()
  },
)
