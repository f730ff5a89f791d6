/** Where a share stands: its polynomial was evaluated at index + 1. */

import { INDEX_BYTES } from './bounds.ts'
import { type Bytes, readLittleEndian, writeLittleEndian } from './bytes.ts'
import { refusePoprf } from './poprf-mistake.ts'

/** One more wraps to 0 in the published library, where the polynomial gives the whole key away. */
export const MAX_INDEX = 0xffff_fffe

export const decodeIndex = (thing: string, bytes: Bytes): number =>
  requireIndex(thing, Number(readLittleEndian(bytes)))

export const requireIndex = (thing: string, index: number): number =>
  Number.isInteger(index) && index >= 0 && index <= MAX_INDEX
    ? index
    : refusePoprf({
        code: 'POPRF_INDEX_INVALID',
        thing,
        rule: `must have a whole index from 0 to ${MAX_INDEX}`,
        finding: String(index),
      })

export const encodeIndex = (index: number): Bytes => writeLittleEndian(BigInt(index), INDEX_BYTES)

/** The x at which the share is the polynomial's value. Never 0. */
export const abscissaOf = (index: number): bigint => BigInt(index) + 1n
