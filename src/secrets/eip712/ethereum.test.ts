/** Without a library the same texts are public keys as with it. */
import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { compressedKey, toHex } from './ethereum.ts'

const PRIME = 'fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f'

test('a text is a compressed point if and only if libsecp256k1 says so', () => {
  const point = fc.tuple(fc.constantFrom(2, 3, 4), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  const property = fc.property(point, ([tag, x]) => {
    const bytes = Uint8Array.from([tag, ...x])
    const text = toHex(bytes)
    const read = () => compressedKey(text)
    if (secp256k1.publicKeyVerify(bytes)) expect(read()).toBe(text)
    else expect(mistakeOf(read).code).toBe('DOMAIN_INVALID')
  })
  fc.assert(property, { numRuns: times(500, 20_000) })
})

test.each([
  ['the prime itself', `02${PRIME}`],
  ['another length', `02${PRIME}00`],
  ['no hexadecimal', `02${'g'.repeat(64)}`],
])('%s is none', (_, text) => {
  expect(mistakeOf(() => compressedKey(text)).code).toBe('DOMAIN_INVALID')
})
