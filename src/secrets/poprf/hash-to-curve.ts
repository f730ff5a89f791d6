/** H1 and H2 of Pith: bytes to a point of G1 or G2. As celo-bls-snark-rs hashes, and unlike RFC 9380. */
import { concatBytes } from '@noble/hashes/utils.js'
import { assert } from '../../core/errors.ts'
import { blake2xs, type HashDomain } from './blake2xs.ts'
import { type Bytes, readLittleEndian, split } from './bytes.ts'
import { FIELD_BITS, FIELD_BYTES, P } from './curve/field.ts'
import {
  clearCofactor1,
  clearCofactor2,
  type G1,
  type G2,
  G2_BYTES,
  pointAtX1,
  pointAtX2,
} from './curve/points.ts'

const DOMAIN = 'ULforxof'

export const hashToG1 = (message: Bytes): G1 =>
  tryAndIncrement(DOMAIN, message, FIELD_BYTES, (digest) => {
    const x = abscissa(digest)
    const point = x === undefined ? undefined : pointAtX1(x, wantsLarger(digest))
    return usable(point === undefined ? undefined : clearCofactor1(point))
  })

export const hashToG2 = (message: Bytes): G2 =>
  tryAndIncrement(DOMAIN, message, G2_BYTES, (digest) => {
    const [low = digest, high = digest] = split(digest, FIELD_BYTES, FIELD_BYTES)
    const [c0, c1] = [abscissa(low), abscissa(high)]
    if (c0 === undefined || c1 === undefined) return undefined
    const point = pointAtX2({ c0, c1 }, wantsLarger(digest))
    return usable(point === undefined ? undefined : clearCofactor2(point))
  })

const MASK = (1n << BigInt(FIELD_BITS)) - 1n

function abscissa(digest: Bytes): bigint | undefined {
  const x = readLittleEndian(digest) & MASK
  return x < P ? x : undefined
}

/** Later versions of the hash look at bit 7: half of their points have the other sign. */
const wantsLarger = (digest: Bytes): boolean => ((digest.at(-1) ?? 0) & 0b10) !== 0

const usable = <T extends G1 | G2>(point: T | undefined): T | undefined =>
  point?.is0() === true ? undefined : point

// Hashing by trial: a counter before the message is raised until the digest is usable.

/** More than a third of all digests are usable: that this many fail has a chance below 2^-150. */
const MAX_TRIES = 255

/** The digest is `length` bytes rounded up to whole nodes of 32; `use` sees the first `length`. */
export const tryAndIncrement = <T>(
  domain: HashDomain,
  message: Bytes,
  length: number,
  use: (digest: Bytes) => T | undefined,
): T => {
  const whole = 32 * Math.ceil(length / 32)
  for (let counter = 0; counter < MAX_TRIES; counter++) {
    const digest = blake2xs(domain, concatBytes(Uint8Array.of(counter), message), whole)
    const found = use(digest.subarray(0, length))
    if (found !== undefined) return found
  }
  return unusable()
}

function unusable(): never {
  assert(false, 'no counter gives a usable digest')
}
