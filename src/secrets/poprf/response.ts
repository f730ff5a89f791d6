/** What a service answers: two elements of GT, in a partial answer with the index of its share. */
import {
  INDEX_BYTES,
  PARTIAL_EVALUATION_BYTES,
  PARTIAL_RESPONSE_BYTES,
  RESPONSE_BYTES,
} from './bounds.ts'
import { type Bytes, concat, requireLength, split } from './bytes.ts'
import { decodeGt, encodeGt, GT_BYTES, type Gt } from './curve/gt.ts'
import { decodeIndex, encodeIndex } from './share-index.ts'

/** A = e(H1(t)^k, a) and B = e(H1(t)^k, b). */
export interface Response {
  readonly a: Gt
  readonly b: Gt
}

/** Something that belongs to the share of one index. */
export interface OfShare<T> {
  readonly index: number
  readonly value: T
}

export const encodeResponse = ({ a, b }: Response): Bytes => concat(encodeGt(a), encodeGt(b))

export const decodeResponse = (bytes: Bytes, thing = 'response'): Response => {
  const [a = bytes, b = bytes] = split(
    requireLength(thing, bytes, RESPONSE_BYTES),
    GT_BYTES,
    GT_BYTES,
  )
  return { a: decodeGt(thing, a), b: decodeGt(thing, b) }
}

export const encodePartialResponse = ({ index, value }: OfShare<Response>): Bytes =>
  concat(encodeIndex(index), encodeResponse(value))

export const decodePartialResponse = (bytes: Bytes): OfShare<Response> => {
  const thing = 'partial response'
  requireLength(thing, bytes, PARTIAL_RESPONSE_BYTES)
  const [index = bytes, rest = bytes] = split(bytes, INDEX_BYTES, RESPONSE_BYTES)
  return { index: decodeIndex(thing, index), value: decodeResponse(rest, thing) }
}

export const encodePartialEvaluation = ({ index, value }: OfShare<Gt>): Bytes =>
  concat(encodeIndex(index), encodeGt(value))

export const decodePartialEvaluation = (bytes: Bytes): OfShare<Gt> => {
  const thing = 'partial evaluation'
  requireLength(thing, bytes, PARTIAL_EVALUATION_BYTES)
  const [index = bytes, rest = bytes] = split(bytes, INDEX_BYTES, GT_BYTES)
  return { index: decodeIndex(thing, index), value: decodeGt(thing, rest) }
}
