/** The bytes of the suite: little-endian integers, lengths that are required, and how bytes are refused. */
import { type ThrowMistake, throwMistake } from '../../core/errors.ts'

export type Bytes = Uint8Array

/** Makes no text on the way: of a secret, each would be a copy that no one can wipe. */
export const readLittleEndian = (bytes: Bytes): bigint => {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = bytes.length
  let value = 0n
  while (at % 8 !== 0) {
    at -= 1
    value = (value << 8n) | BigInt(words.getUint8(at))
  }
  while (at > 0) {
    at -= 8
    value = (value << 64n) | words.getBigUint64(at, true)
  }
  return value
}

export const writeLittleEndian = (value: bigint, length: number): Bytes => {
  const bytes = new Uint8Array(length)
  let rest = value
  for (let at = 0; at < length; at++) {
    bytes[at] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return bytes
}

/**
 * A copy for a secret, outside the heap: the garbage collector moves short arrays about, and what it
 * leaves behind no one can wipe.
 */
export const secretCopy = (secret: Bytes): Uint8Array<ArrayBuffer> => {
  const copy = new Uint8Array(new ArrayBuffer(secret.length))
  copy.set(secret)
  return copy
}

/** The published library reads a prefix and ignores the rest; an exact length leaves one encoding. */
export const requireLength = (thing: string, bytes: Bytes, length: number): Bytes =>
  bytes.length === length
    ? bytes
    : refusePoprf({
        code: 'POPRF_LENGTH_INVALID',
        thing,
        rule: `must be exactly ${length} bytes`,
        finding: `${bytes.length} bytes`,
      })

/** A tag is a hash of 32 bytes; the vectors use short texts. More only costs the evaluator memory. */
export const MAX_TAG_BYTES = 1_024

/** A password or a PIN; even a passphrase of many pages fits. */
export const MAX_MESSAGE_BYTES = 65_536

export const requireTag = (tag: Bytes): Bytes =>
  tag.length <= MAX_TAG_BYTES ? tag : tooLong('POPRF_TAG_TOO_LONG', 'tag', MAX_TAG_BYTES, tag)

export const requireMessage = (message: Bytes): Bytes =>
  message.length <= MAX_MESSAGE_BYTES
    ? message
    : tooLong('POPRF_MESSAGE_TOO_LONG', 'message', MAX_MESSAGE_BYTES, message)

function tooLong(
  code: 'POPRF_TAG_TOO_LONG' | 'POPRF_MESSAGE_TOO_LONG',
  thing: string,
  most: number,
  bytes: Bytes,
): never {
  const rule = `must be at most ${most} bytes`
  return refusePoprf({ code, thing, rule, finding: `${bytes.length} bytes` })
}

/** Cuts bytes of a known total length into consecutive fields. */
export const split = (bytes: Bytes, ...lengths: readonly number[]): readonly Bytes[] => {
  let at = 0
  return lengths.map((length) => {
    at += length
    return bytes.subarray(at - length, at)
  })
}

/** Not in constant time: for public bytes only. */
export const equalBytes = (one: Bytes, other: Bytes): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

// The mistakes a caller can make. No message repeats the bytes themselves.

/** Each has a heading in docs/reference/errors.md. */
export const POPRF_ERROR_CODES = [
  'POPRF_LENGTH_INVALID',
  'POPRF_SCALAR_INVALID',
  'POPRF_POINT_INVALID',
  'POPRF_EVALUATION_INVALID',
  'POPRF_INDEX_INVALID',
  'POPRF_INDEX_DUPLICATE',
  'POPRF_THRESHOLD_INVALID',
  'POPRF_POLYNOMIAL_INVALID',
  'POPRF_TAG_TOO_LONG',
  'POPRF_MESSAGE_TOO_LONG',
  'POPRF_PROOF_INVALID',
  'POPRF_UNVERIFIED',
] as const

export type PoprfErrorCode = (typeof POPRF_ERROR_CODES)[number]

export const refusePoprf: ThrowMistake<PoprfErrorCode> = throwMistake
