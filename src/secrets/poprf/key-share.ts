/** A private key, or one signer's share of it, and the public polynomial of a shared key, as bytes. */
import { concatBytes, randomBytes } from '@noble/hashes/utils.js'
import {
  type Bytes,
  readLittleEndian,
  refusePoprf,
  requireLength,
  split,
  writeLittleEndian,
} from './bytes.ts'
import { decodeG2, encodeG2, type G2, G2_BYTES, G2_GENERATOR, G2_ZERO } from './curve/points.ts'
import {
  checkScalar,
  decodeScalar,
  encodeScalar,
  type RandomBytes,
  randomScalar,
  SCALAR_BYTES,
} from './curve/scalar.ts'

export const INDEX_BYTES = 4
export const PRIVATE_KEY_BYTES = SCALAR_BYTES
export const PUBLIC_KEY_BYTES = G2_BYTES
export const KEY_SHARE_BYTES = INDEX_BYTES + SCALAR_BYTES

/** No ceremony has more signers; aggregation costs two powers for each. */
export const MAX_THRESHOLD = 255

interface KeyShare {
  readonly index: number
  readonly scalar: bigint
}

export const decodePrivateKey = (bytes: Bytes): bigint => decodeScalar('private key', bytes)

export const decodeKeyShare = (bytes: Bytes): KeyShare => {
  const { index, value } = decodeIndexed('key share', bytes, SCALAR_BYTES, decodeScalar)
  return { index, scalar: value }
}

/** Refuses what `decodePrivateKey` refuses, and makes no number of it. */
export const checkPrivateKey = (bytes: Bytes): Bytes => checkScalar('private key', bytes)

/** The index of a share. Refuses what `decodeKeyShare` refuses, and makes no number of its scalar. */
export const shareIndexOf = (bytes: Bytes): number =>
  decodeIndexed('key share', bytes, SCALAR_BYTES, checkScalar).index

export const encodeKeyShare = ({ index, scalar }: KeyShare): Bytes =>
  concatBytes(encodeIndex(requireIndex('key share', index)), encodeScalar(scalar))

/** g2 to the power of the key: what answers are verified against. */
export const publicKeyOf = (privateKey: Bytes): Bytes =>
  encodeG2(G2_GENERATOR.multiply(decodePrivateKey(privateKey)))

/**
 * Commitments to the coefficients of a shared key: as many as the threshold, and at least one. The
 * first, for the constant term, is the public key.
 */
type Polynomial = readonly G2[]

const COUNT_BYTES = 8

export const decodePolynomial = (bytes: Bytes): Polynomial => {
  const count = Number(readLittleEndian(bytes.subarray(0, COUNT_BYTES)))
  if (bytes.length < COUNT_BYTES || count < 1 || count > MAX_THRESHOLD) {
    return refusePolynomial(`must count from 1 to ${MAX_THRESHOLD} commitments`)
  }
  if (bytes.length !== COUNT_BYTES + count * PUBLIC_KEY_BYTES) {
    return refusePolynomial(`must hold exactly the ${count} commitments it counts`)
  }
  return Array.from({ length: count }, (_, at) => {
    const from = COUNT_BYTES + at * PUBLIC_KEY_BYTES
    return decodeG2('public polynomial', bytes.subarray(from, from + PUBLIC_KEY_BYTES))
  })
}

export const encodePolynomial = (polynomial: Polynomial): Bytes =>
  concatBytes(
    writeLittleEndian(BigInt(polynomial.length), COUNT_BYTES),
    ...polynomial.map((commitment) => encodeG2(commitment)),
  )

/** The public key of the share at an index. Refuses the identity, which no secret but 0 has. */
export const publicShareAt = (polynomial: Polynomial, index: number): G2 => {
  const x = abscissaOf(requireIndex('public polynomial', index))
  const key = polynomial.reduceRight((sum, term) => sum.multiplyUnsafe(x).add(term), G2_ZERO)
  return key.is0() ? refusePolynomial(`must not vanish at index ${index}`) : key
}

/** The same as bytes. */
export const sharePublicKey = (polynomial: Bytes, index: number): Bytes =>
  encodeG2(publicShareAt(decodePolynomial(polynomial), index))

function refusePolynomial(rule: string): never {
  return refusePoprf({ code: 'POPRF_POLYNOMIAL_INVALID', thing: 'public polynomial', rule })
}

/**
 * A share is the polynomial's value at index + 1. In the published library one index more wraps to 0,
 * where the polynomial's value is the whole key.
 */
const MAX_INDEX = 0xffff_fffe

/** What follows the index of its share, as every partial encoding has it. */
export const decodeIndexed = <Value>(
  thing: string,
  bytes: Bytes,
  size: number,
  decode: (thing: string, bytes: Bytes) => Value,
): { readonly index: number; readonly value: Value } => {
  requireLength(thing, bytes, INDEX_BYTES + size)
  const [index = bytes, rest = bytes] = split(bytes, INDEX_BYTES, size)
  const at = requireIndex(thing, Number(readLittleEndian(index)))
  return { index: at, value: decode(thing, rest) }
}

const requireIndex = (thing: string, index: number): number =>
  Number.isInteger(index) && index >= 0 && index <= MAX_INDEX
    ? index
    : refusePoprf({
        code: 'POPRF_INDEX_INVALID',
        thing,
        rule: `must have a whole index from 0 to ${MAX_INDEX}`,
        finding: String(index),
      })

export const encodeIndex = (index: number): Bytes => writeLittleEndian(BigInt(index), INDEX_BYTES)

/** Never 0. */
export const abscissaOf = (index: number): bigint => BigInt(index) + 1n

/** A new private key. The caller zeroises the bytes when it is done with them. */
export const generatePrivateKey = (random: RandomBytes = randomBytes): Bytes =>
  encodeScalar(randomScalar(random))
