/** What a service responds: two elements of GT, in a partial response with the index of its share. */
import { concatBytes } from '@noble/hashes/utils.js'
import { type Bytes, requireLength, split } from './bytes.ts'
import { decodeGt, encodeGt, GT_BYTES, type Gt } from './curve/gt.ts'
import { decodeIndexed, encodeIndex, INDEX_BYTES } from './key-share.ts'

export const RESPONSE_BYTES = 2 * GT_BYTES
export const PARTIAL_RESPONSE_BYTES = INDEX_BYTES + RESPONSE_BYTES
export const PARTIAL_EVALUATION_BYTES = INDEX_BYTES + GT_BYTES

/** A = e(H1(t)^k, a) and B = e(H1(t)^k, b). */
export interface BlindResponse {
  readonly a: Gt
  readonly b: Gt
}

/** Something that belongs to the share of one index. */
export interface OfShare<T> {
  readonly index: number
  readonly value: T
}

export const encodeResponse = ({ a, b }: BlindResponse): Bytes =>
  concatBytes(encodeGt(a), encodeGt(b))

export const decodeResponse = (bytes: Bytes, thing = 'response'): BlindResponse => {
  const [a = bytes, b = bytes] = split(
    requireLength(thing, bytes, RESPONSE_BYTES),
    GT_BYTES,
    GT_BYTES,
  )
  return { a: decodeGt(thing, a), b: decodeGt(thing, b) }
}

export const encodePartialResponse = ({ index, value }: OfShare<BlindResponse>): Bytes =>
  concatBytes(encodeIndex(index), encodeResponse(value))

export const decodePartialResponse = (bytes: Bytes): OfShare<BlindResponse> =>
  decodeIndexed('partial response', bytes, RESPONSE_BYTES, (thing, rest) =>
    decodeResponse(rest, thing),
  )

export const encodePartialEvaluation = ({ index, value }: OfShare<Gt>): Bytes =>
  concatBytes(encodeIndex(index), encodeGt(value))

export const decodePartialEvaluation = (bytes: Bytes): OfShare<Gt> =>
  decodeIndexed('partial evaluation', bytes, GT_BYTES, decodeGt)
