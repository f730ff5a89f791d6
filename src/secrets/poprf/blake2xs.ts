/** The suite's hash: BLAKE2s of the message, expanded by BLAKE2Xs (BLAKE2X, 2016) to any length. */
import { concatBytes } from '@noble/hashes/utils.js'
import type { Bytes } from './bytes.ts'

/** Eight ASCII characters, which keep the suite's hashes apart from each other. */
export type HashDomain = string

const NODE = 32

/**
 * The digest goes into the expansion in place of the root that BLAKE2X prescribes; the published
 * library hashes so, and outputs depend on it. The count of bytes in the message is below 2^32.
 */
export const blake2xs = (domain: HashDomain, message: Bytes, length: number): Bytes => {
  const personal = new TextEncoder().encode(domain)
  const root = blake2s(
    {
      digestLength: NODE,
      fanout: 1,
      depth: 1,
      leafLength: 0,
      nodeOffset: 0,
      xofLength: length,
      innerLength: 0,
      personal,
    },
    message,
  )
  const nodes = Array.from({ length: Math.ceil(length / NODE) }, (_, nodeOffset) =>
    blake2s(
      {
        digestLength: Math.min(NODE, length - nodeOffset * NODE),
        fanout: 0,
        depth: 0,
        leafLength: NODE,
        nodeOffset,
        xofLength: length,
        innerLength: NODE,
        personal,
      },
      root,
    ),
  )
  return concatBytes(...nodes)
}

// BLAKE2s with the tree parameters that BLAKE2X needs and RFC 7693 leaves out. BLAKE2 (2013), §2.8.

interface Blake2sParameters {
  readonly digestLength: number
  readonly fanout: number
  readonly depth: number
  readonly leafLength: number
  readonly nodeOffset: number
  readonly xofLength: number
  readonly innerLength: number
  /** Eight bytes. */
  readonly personal: Bytes
}

export const blake2s = (parameters: Blake2sParameters, message: Bytes): Bytes => {
  const state = initial(parameters)
  const blocks = Math.max(1, Math.ceil(message.length / BLOCK))
  for (let at = 0; at < blocks; at++) {
    const block = new Uint8Array(BLOCK)
    block.set(message.subarray(at * BLOCK, (at + 1) * BLOCK))
    const last = at === blocks - 1
    compress(state, words(block), last ? message.length : (at + 1) * BLOCK, last)
  }
  const digest = new Uint8Array(32)
  const view = new DataView(digest.buffer)
  state.forEach((word, at) => {
    view.setUint32(4 * at, word, true)
  })
  return digest.subarray(0, parameters.digestLength)
}

const BLOCK = 64

const IV = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
)

/** RFC 7693, §2.7. */
const SIGMA = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
].map((row) => [...row].map((digit) => Number.parseInt(digit, 16)))

/** The words that each quarter round mixes: columns, then diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

function initial(parameters: Blake2sParameters): Uint32Array {
  const block = new Uint8Array(32)
  const view = new DataView(block.buffer)
  block.set([parameters.digestLength, 0, parameters.fanout, parameters.depth])
  view.setUint32(4, parameters.leafLength, true)
  view.setUint32(8, parameters.nodeOffset, true)
  view.setUint16(12, parameters.xofLength, true)
  view.setUint8(15, parameters.innerLength)
  block.set(parameters.personal, 24)
  return words(block).map((word, at) => word ^ (IV[at] ?? 0))
}

function words(bytes: Bytes): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(4 * at, true))
}

function compress(state: Uint32Array, message: Uint32Array, count: number, last: boolean): void {
  const v = Uint32Array.of(...state, ...IV)
  v[12] = (v[12] ?? 0) ^ count
  if (last) v[14] = ~(v[14] ?? 0)
  for (const row of SIGMA) {
    QUARTERS.forEach((quarter, at) => {
      mix(v, quarter, message[row[2 * at] ?? 0] ?? 0, message[row[2 * at + 1] ?? 0] ?? 0)
    })
  }
  for (let at = 0; at < 8; at++) state[at] = (state[at] ?? 0) ^ (v[at] ?? 0) ^ (v[at + 8] ?? 0)
}

function mix(
  v: Uint32Array,
  [a, b, c, d]: readonly [number, number, number, number],
  first: number,
  second: number,
): void {
  const at = (index: number): number => v[index] ?? 0
  v[a] = at(a) + at(b) + first
  v[d] = rotate(at(d) ^ at(a), 16)
  v[c] = at(c) + at(d)
  v[b] = rotate(at(b) ^ at(c), 12)
  v[a] = at(a) + at(b) + second
  v[d] = rotate(at(d) ^ at(a), 8)
  v[c] = at(c) + at(d)
  v[b] = rotate(at(b) ^ at(c), 7)
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))
