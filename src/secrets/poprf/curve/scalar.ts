/** Fr, the field of exponents: 32 bytes, little endian, below r. Zexe (eprint 2018/962), table 4. */
import { Field } from '@noble/curves/abstract/modular.js'
import {
  type Bytes,
  readLittleEndian,
  refusePoprf,
  requireLength,
  writeLittleEndian,
} from '../bytes.ts'

export const R = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n

export const SCALAR_BITS = 253
export const SCALAR_BYTES = 32

/** Bytes drawn for one random scalar: 16 more than it holds leave a bias below 2^-128. */
const WIDE_BYTES = SCALAR_BYTES + 16

export const Fr = Field(R, { isLE: true })

/** Where chance comes from: `length` unpredictable bytes. */
export type RandomBytes = (length: number) => Bytes

/** 0 is refused as well: as a key or a blinding factor it makes every answer the same. */
export const decodeScalar = (thing: string, bytes: Bytes): bigint => {
  const value = decodeAnyScalar(thing, bytes)
  return value === 0n ? refuseScalar(thing, NOT_ZERO) : value
}

/** Refuses the same bytes without making a number of them: of a secret, that would be a copy. */
export const checkScalar = (thing: string, bytes: Bytes): Bytes => {
  requireLength(thing, bytes, SCALAR_BYTES)
  const top = bytes.findLastIndex((byte, at) => byte !== R_BYTES[at])
  if (top === -1 || (bytes[top] ?? 0) > (R_BYTES[top] ?? 0)) return refuseScalar(thing, BELOW_R)
  return bytes.some((byte) => byte !== 0) ? bytes : refuseScalar(thing, NOT_ZERO)
}

/** For the numbers of a proof, of which 0 is a possible one. */
export const decodeAnyScalar = (thing: string, bytes: Bytes): bigint => {
  const value = readLittleEndian(requireLength(thing, bytes, SCALAR_BYTES))
  return value < R ? value : refuseScalar(thing, BELOW_R)
}

export const encodeScalar = (value: bigint): Bytes => writeLittleEndian(value, SCALAR_BYTES)

const R_BYTES = encodeScalar(R)

const NOT_ZERO = 'must not be 0'
const BELOW_R = 'must be below the order of the group'

/** Never 0. */
export const randomScalar = (random: RandomBytes): bigint => {
  const wide = random(WIDE_BYTES)
  const value = (readLittleEndian(wide) % (R - 1n)) + 1n
  wide.fill(0)
  return value
}

function refuseScalar(thing: string, rule: string): never {
  return refusePoprf({ code: 'POPRF_SCALAR_INVALID', thing, rule })
}
