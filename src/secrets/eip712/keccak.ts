/** keccak-256 over bytes and text, as EIP-712 uses it. Not SHA3-256: the padding differs. */
import { keccak_256 } from '@noble/hashes/sha3.js'

export const WORD = 32

export const keccak = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

export const keccakText = (text: string): Uint8Array => keccak(new TextEncoder().encode(text))

export const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Undefined unless it is `0x` and whole bytes of hexadecimal digits. */
export const fromHex = (text: string): Uint8Array | undefined =>
  /^0x(?:[0-9a-fA-F]{2})*$/.test(text)
    ? Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
    : undefined
