/** Ethereum addresses: 20 bytes as hexadecimal text, mixed case only as a checksum (ERC-55). */
import { keccak, keccakText, toHex } from './keccak.ts'

declare const addressBrand: unique symbol

/** `0x` and 40 lower-case hexadecimal digits. */
export type Address = string & { readonly [addressBrand]: true }

/** Whose key nobody has: the zero value of the type. */
export const NOBODY = `0x${'0'.repeat(40)}` as Address

/** Undefined if it is no address, or one whose capitals contradict its digits. */
export const parseAddress = (text: string): Address | undefined => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  const lower = text.toLowerCase()
  const digits = text.slice(2)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return oneCase || text === checksummed(lower) ? (lower as Address) : undefined
}

/** The address of a public key, given as an uncompressed point of 65 bytes. */
export const addressOf = (point: Uint8Array): Address =>
  `0x${toHex(keccak(point.subarray(1)).subarray(12))}` as Address

const checksummed = (lower: string): string => {
  const hash = toHex(keccakText(lower.slice(2)))
  const digits = [...lower.slice(2)].map((digit, i) =>
    Number.parseInt(hash[i] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${digits.join('')}`
}
