/**
 * What Ethereum hashes and writes with: keccak-256, hexadecimal text, addresses with their checksums
 * (ERC-55), and public keys. Clients hash their domains by it: it runs in browsers, without Node.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { quote } from '../../core/errors.ts'
import { refuseDomain } from '../mistake.ts'

/** Not SHA3-256: the padding differs. */
export const keccak = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

export const keccakText = (text: string): Uint8Array => keccak(new TextEncoder().encode(text))

export const toHex = (bytes: Uint8Array): string => bytesToHex(bytes)

/** Undefined unless it is `0x` and whole bytes of hexadecimal digits. */
export const fromHex = (text: string): Uint8Array | undefined =>
  /^0x(?:[0-9a-fA-F]{2})*$/.test(text) ? hexToBytes(text.slice(2)) : undefined

/** The bytes of one value, to EIP-712 as to a contract. */
export const WORD = 32

/** A whole number as one word, big endian. */
export const numberWord = (value: number): Uint8Array => {
  const bytes = new Uint8Array(WORD)
  new DataView(bytes.buffer).setBigUint64(WORD - 8, BigInt(value))
  return bytes
}

declare const ethereumAddressBrand: unique symbol

/** `0x` and 40 lower-case hexadecimal digits. */
export type EthereumAddress = string & { readonly [ethereumAddressBrand]: true }

/** The zero value of the type. No key is known to have it. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as EthereumAddress

/** Undefined if it is no address, or one whose capitals contradict its digits. */
export const parseEthereumAddress = (text: string): EthereumAddress | undefined => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  const lower = text.toLowerCase()
  const digits = text.slice(2)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return oneCase || text === checksummed(lower) ? (lower as EthereumAddress) : undefined
}

/** The address of a public key, given as an uncompressed point of 65 bytes. */
export const addressOfPoint = (point: Uint8Array): EthereumAddress =>
  `0x${toHex(keccak(point.subarray(1)).subarray(12))}` as EthereumAddress

function checksummed(lower: string): string {
  const hash = toHex(keccakText(lower.slice(2)))
  const digits = [...lower.slice(2)].map((digit, i) =>
    Number.parseInt(hash[i] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${digits.join('')}`
}

/** Who signed a hash. */
interface Signatory {
  readonly address: EthereumAddress
  /** 33 bytes as lower-case hexadecimal digits, without `0x`. */
  readonly publicKey: string
}

/** Finds who signed a hash; undefined if the text is no signature. `recover` of recover.ts is one. */
export type Recover = (hash: Uint8Array, signature: string) => Signatory | undefined

/** Undefined if one of the expected signed the hash; else what was found instead. */
export const signedBy = (
  hash: Uint8Array,
  signature: string,
  expected: { readonly addresses: readonly EthereumAddress[] } | { readonly publicKey: string },
  recover: Recover,
): string | undefined => {
  if (signature === '') return 'no signature'
  const found = recover(hash, signature)
  if (found === undefined) return 'no signature of 65 bytes r || s || v in hexadecimal with a low s'
  const matches =
    'publicKey' in expected
      ? found.publicKey === expected.publicKey
      : expected.addresses.includes(found.address)
  return matches ? undefined : `a signature by ${found.address}`
}

/** A public key in a domain: 66 lower-case digits. The text itself is hashed as the domain spells it. */
export const compressedKey = (text: string): string => {
  const digits = text.replace(/^0x/, '').toLowerCase()
  const bytes = fromHex(`0x${digits}`)
  if (bytes?.length === 33 && isCompressedPoint(bytes)) return digits
  const rule = 'must be a compressed point of secp256k1, 33 bytes in hexadecimal'
  return refuseDomain('publicKey', rule, quote(text))
}

/** The prime of the field of secp256k1. */
const PRIME = 2n ** 256n - 2n ** 32n - 977n

/** Whether some y has y² = x³ + 7. Costs a Jacobi symbol, no root: clients without a library need it. */
function isCompressedPoint(bytes: Uint8Array): boolean {
  const x = BigInt(`0x${toHex(bytes.subarray(1))}`)
  return (bytes[0] === 2 || bytes[0] === 3) && x < PRIME && jacobi((x * x * x + 7n) % PRIME) === 1
}

/** (n / PRIME): 1 for squares, -1 for the rest. Not in constant time: for public bytes only. */
function jacobi(n: bigint): number {
  let [top, bottom, sign] = [n, PRIME, 1]
  while (top !== 0n) {
    while ((top & 1n) === 0n) {
      top >>= 1n
      const rest = bottom & 7n
      if (rest === 3n || rest === 5n) sign = -sign
    }
    if ((top & 3n) === 3n && (bottom & 3n) === 3n) sign = -sign
    ;[top, bottom] = [bottom % top, top]
  }
  return bottom === 1n ? sign : 0
}
