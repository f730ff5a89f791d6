/** The two flags in the last byte of a compressed point, as arkworks 0.3 sets them. */
import type { Bytes } from '../bytes.ts'

const LARGER = 0x80
const INFINITY = 0x40

export interface Flags {
  /** Of y and −y, the larger one is meant. */
  readonly larger: boolean
  readonly infinity: boolean
}

export const readFlags = (point: Bytes): Flags => {
  const last = point.at(-1) ?? 0
  return { larger: (last & LARGER) !== 0, infinity: (last & INFINITY) !== 0 }
}

/** The abscissa alone. Bits that are neither flag nor number stay, and make it too large. */
export const withoutFlags = (point: Bytes): Bytes => {
  // Not slice(): of a Buffer that is a view, and the caller's point would lose its sign.
  const bare = Uint8Array.from(point)
  bare[bare.length - 1] = (point.at(-1) ?? 0) & ~(LARGER | INFINITY)
  return bare
}

export const signed = (abscissa: Bytes, larger: boolean): Bytes => {
  const point = Uint8Array.from(abscissa)
  point[point.length - 1] = (abscissa.at(-1) ?? 0) | (larger ? LARGER : 0)
  return point
}
