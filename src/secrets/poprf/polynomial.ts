/** The public polynomial of a shared key: commitments to its coefficients, the key's own first. */
import { MAX_THRESHOLD, PUBLIC_KEY_BYTES } from './bounds.ts'
import { type Bytes, concat, readLittleEndian, writeLittleEndian } from './bytes.ts'
import { decodeG2, encodeG2, type G2, G2_ZERO } from './curve/g2.ts'
import { refusePoprf } from './poprf-mistake.ts'
import { abscissaOf, requireIndex } from './share-index.ts'

/** At least one: the constant term is the public key. As many as the threshold. */
export type Polynomial = readonly G2[]

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
  concat(
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
