/** Bytes to an exponent, for the challenge of the related-query proof: Pith, "Proof of related query". */
import type { HashDomain } from './blake2xs.ts'
import { type Bytes, readLittleEndian } from './bytes.ts'
import { R, SCALAR_BITS, SCALAR_BYTES } from './curve/scalar.ts'
import { tryAndIncrement } from './try-and-increment.ts'

const MASK = (1n << BigInt(SCALAR_BITS)) - 1n

export const hashToScalar = (domain: HashDomain, message: Bytes): bigint =>
  tryAndIncrement(domain, message, SCALAR_BYTES, (digest) => {
    const value = readLittleEndian(digest) & MASK
    return value < R ? value : undefined
  })
