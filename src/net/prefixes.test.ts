import { expect, test } from 'vitest'
import { isIPv6, parseIpAddress } from './addresses.ts'
import { coveringPrefix, maskIPv6, parsePrefix } from './prefixes.ts'

const address = (text: string) => {
  const parsed = parseIpAddress(text)
  if (parsed === undefined) throw new Error(`no address: ${text}`)
  return parsed
}

test.each([
  ['2001:db8:abcd:12::1', 48, '2001:db8:abcd::/48'],
  ['2602:80a:6000:ffff:ffff:ffff:ffff:ffff', 48, '2602:80a:6000::/48'],
  ['2602:80a:6000:abad:ff1:cec0:ffee:1', 64, '2602:80a:6000:abad::/64'],
  ['::1', 64, '::/64'],
] as const)('%s belongs to its /%d', (text, mask, prefix) => {
  const parsed = address(text)
  expect(isIPv6(parsed) && maskIPv6(parsed, mask)).toBe(prefix)
})

test('an IPv4 address covers itself, an IPv6 address its /64', () => {
  expect(coveringPrefix(address('5.6.7.8'))).toBe('5.6.7.8/32')
  expect(coveringPrefix(address('2001:db8::1'))).toBe('2001:db8::/64')
})

test.each(['10.0.0.0', '10.0.0.0/33', '::/129', '::/+48', '::/048', '::/48/48', '::%1/48', '/48'])(
  '%s is no prefix',
  (text) => {
    expect(parsePrefix(text)).toBeUndefined()
  },
)

test('a prefix of IPv4-mapped addresses is neither read as IPv6 nor as IPv4', () => {
  expect(parsePrefix('::ffff:1.2.3.4/128')).toBeUndefined()
})
