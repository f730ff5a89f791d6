import { expect, test } from 'vitest'
import { canonicalEvmAddress, canonicalPurpose, toMemberName } from './ask.ts'

test.each([
  ['0x123', '0x123'],
  [' 0xABcd ', '0xabcd'],
  ['0XAB', '0xab'],
  ['0x5FbDB2315678afecb367f032d93F642f64180aa3', '0x5fbdb2315678afecb367f032d93f642f64180aa3'],
])('%j is the address %s', (text, canonical) => {
  expect(canonicalEvmAddress(text)).toBe(canonical)
})

test.each(['', '0x', '123', '0xg1', '0x1 2', 'x1', `0x${'a'.repeat(256)}`])(
  '%j is none',
  (text) => {
    expect(canonicalEvmAddress(text)).toBeUndefined()
  },
)

test.each([
  ['user:42', 'user:42'],
  ['key:Ab/c#d', 'key:Ab/c#d'],
  ['team-a:x', 'team-a:x'],
  ['0xA1', '0xa1'],
  ['10.0.0.1', '10.0.0.1'],
  ['2001:DB8::1', '2001:db8::1'],
])('the member %s is %s', (text, canonical) => {
  expect(toMemberName(text)).toBe(canonical)
})

test.each([
  '',
  'alice',
  'User:42',
  'user:',
  'user:a b',
  '10.0.0.256',
  'fe80::1%eth0',
  'fe80:x',
  '0xg1',
])('%j is no member: a slip in an address is not taken for a name', (text) => {
  expect(() => toMemberName(text)).toThrow(expect.objectContaining({ code: 'ADDRESS_INVALID' }))
})

test('an IP as the caller counts as its IP, and must not be another one', () => {
  expect(canonicalPurpose({ from: '10.0.0.1' })).toMatchObject({ ip: '10.0.0.1' })
  expect(canonicalPurpose({ from: '10.0.0.1' }).address).toBeUndefined()
  expect(canonicalPurpose({ from: '10.0.0.1', ip: '10.0.0.1' }).ip).toBe('10.0.0.1')
  expect(() => canonicalPurpose({ from: '10.0.0.1', ip: '10.0.0.2' })).toThrow()
})
