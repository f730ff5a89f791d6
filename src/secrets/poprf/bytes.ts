/** Little-endian integers and fixed lengths, as every encoding of the suite uses them. */
import { refusePoprf } from './poprf-mistake.ts'

export type Bytes = Uint8Array

export const concat = (...parts: readonly Bytes[]): Bytes => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export const readLittleEndian = (bytes: Bytes): bigint => {
  let hex = '0x0'
  for (let at = bytes.length - 1; at >= 0; at--) {
    hex += (bytes[at] ?? 0).toString(16).padStart(2, '0')
  }
  return BigInt(hex)
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

/** Cuts bytes of a known total length into consecutive fields. */
export const split = (bytes: Bytes, ...lengths: readonly number[]): readonly Bytes[] => {
  let at = 0
  return lengths.map((length) => {
    at += length
    return bytes.subarray(at - length, at)
  })
}

/** Not in constant time: for what everybody may know. */
export const equalBytes = (one: Bytes, other: Bytes): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])
