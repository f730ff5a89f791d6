/** DAG-CBOR from strangers: weighed before it is decoded. A byte of CBOR can become 70 bytes of objects. */
import { CBOR, isLink } from '@ucanto/core'
import type { Link } from '@ucanto/interface'

/** How deep values may nest: code that prints or compares them recurses. */
const MAX_DEPTH = 24

/**
 * How many values the bytes hold; undefined if they are no whole DAG-CBOR value, nest too deep, or hold a
 * map with a key that no token has. Reads heads only and allocates nothing, so a claimed length costs nothing either.
 * Finer rules, such as the order of keys, are left to the decoder.
 */
export const countNodes = (bytes: Uint8Array): number | undefined => {
  const counter: Counter = { bytes, at: 0, nodes: 0 }
  return skipValue(counter, 0) && counter.at === bytes.length ? counter.nodes : undefined
}

/** Undefined for what is no DAG-CBOR. */
export const decodeCbor = (bytes: Uint8Array): unknown => {
  try {
    return CBOR.decode(bytes)
  } catch {
    return undefined
  }
}

/** A field of a decoded map. Nothing inherited: `constructor` is absent. */
export const ownField = (value: unknown, name: string): unknown => {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

export const isBlockLink = (value: unknown): value is Link => isLink(value)

/** Another codec or hash would give the same bytes a second name. */
export const isPlainLink = ({ version, code, multihash }: AnyLink): boolean =>
  version === 1 && code === CBOR.code && multihash.code === SHA_256

type AnyLink = Pick<Link<unknown, number, number, 0 | 1>, 'version' | 'code' | 'multihash'>

export const SHA_256 = 0x12

interface Counter {
  readonly bytes: Uint8Array
  at: number
  nodes: number
}

/** The only tag of DAG-CBOR: a link. */
const LINK_TAG = 42

function skipValue(counter: Counter, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  const first = counter.bytes[counter.at]
  if (first === undefined) return false
  counter.at += 1
  counter.nodes += 1
  const [major, argument] = [first >> 5, readArgument(counter, first & 31)]
  if (argument === undefined) return false
  switch (major) {
    case 0:
    case 1:
    case 7:
      return true
    case 2:
    case 3:
      counter.at += argument
      return counter.at <= counter.bytes.length
    case 4:
      return skipValues(counter, argument, depth)
    case 5:
      return skipEntries(counter, argument, depth)
    default:
      return argument === LINK_TAG && skipValue(counter, depth + 1)
  }
}

/** Each value takes a byte at least: a longer list than there are bytes left is a lie. */
function skipValues(counter: Counter, count: number, depth: number): boolean {
  if (count > counter.bytes.length - counter.at) return false
  for (let index = 0; index < count; index++) {
    if (!skipValue(counter, depth + 1)) return false
  }
  return true
}

function skipEntries(counter: Counter, count: number, depth: number): boolean {
  if (count * 2 > counter.bytes.length - counter.at) return false
  for (let index = 0; index < count; index++) {
    if (FORBIDDEN_KEYS.some((key) => startsWith(counter, key))) return false
    if (!skipValues(counter, 2, depth)) return false
  }
  return true
}

/**
 * By which a map would pass for something else. The libraries take one with `/` for a link, as tokens are
 * signed in DAG-JSON, which writes links so; and the decoder would set the prototype of the other: to that
 * of bytes, or of a link. Its methods would then be whatever a stranger wrote there.
 */
const FORBIDDEN_KEYS = ['/', '__proto__'].map((key) => CBOR.encode(key))

/** A longer way to write the same text is refused by the decoder. */
const startsWith = ({ bytes, at }: Counter, key: Uint8Array): boolean =>
  key.every((byte, index) => bytes[at + index] === byte)

/** Undefined where bytes are missing, and for lengths that are told later, which DAG-CBOR has not. */
function readArgument(counter: Counter, info: number): number | undefined {
  if (info < 24) return info
  if (info > 27) return undefined
  const size = 2 ** (info - 24)
  if (counter.at + size > counter.bytes.length) return undefined
  let value = 0
  for (let index = 0; index < size; index++) {
    value = value * 256 + (counter.bytes[counter.at + index] ?? 0)
  }
  counter.at += size
  return value
}
