import { expect, test } from 'vitest'
import { canonicalEvmAddress, MAX_EVM_ADDRESS_LENGTH } from './evm-address.ts'

test.each([
  ['0x123', '0x123'],
  [' 0xABcd ', '0xabcd'],
  ['0XAB', '0xab'],
  ['0x5FbDB2315678afecb367f032d93F642f64180aa3', '0x5fbdb2315678afecb367f032d93f642f64180aa3'],
])('%j is the address %s', (text, canonical) => {
  expect(canonicalEvmAddress(text)).toBe(canonical)
})

test.each(['', '0x', '123', '0xg1', '0x1 2', 'x1', `0x${'a'.repeat(MAX_EVM_ADDRESS_LENGTH)}`])(
  '%j is none',
  (text) => {
    expect(canonicalEvmAddress(text)).toBeUndefined()
  },
)
