/** H1 and H2 of Pith: bytes to a point of G1 or G2. As celo-bls-snark-rs hashes, and unlike RFC 9380. */
import { type Bytes, readLittleEndian, split } from './bytes.ts'
import { FIELD_BITS, FIELD_BYTES, P } from './curve/field.ts'
import { clearCofactor1, type G1, pointAtX1 } from './curve/g1.ts'
import { clearCofactor2, type G2, G2_BYTES, pointAtX2 } from './curve/g2.ts'
import { tryAndIncrement } from './try-and-increment.ts'

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
