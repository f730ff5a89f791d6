/** What is kept for addresses and ranges of addresses: of several ranges the narrowest answers. */
import { type Address, canonicalAddress, isIPv6, parseAddress } from './addresses.ts'
import { type Prefix, parsePrefix } from './prefixes.ts'

export interface RangeTable<T> {
  /** For an address in any spelling. Costs one look a distinct mask, however many ranges there are. */
  find(address: string): T | undefined
}

/** Keys are canonical, as `canonicalRange` writes them. */
export const createRangeTable = <T>(entries: Iterable<readonly [string, T]>): RangeTable<T> => {
  const exact = new Map<string, T>()
  const ranges = new Map<string, T>()
  const masks = { ipv4: new Set<number>(), ipv6: new Set<number>() }
  for (const [key, value] of entries) {
    const prefix = parsePrefix(key)
    if (prefix === undefined) {
      exact.set(key, value)
    } else {
      ranges.set(networkKey(prefix), value)
      masks[prefix.address.kind()].add(prefix.bits)
    }
  }
  const narrowestFirst = {
    ipv4: [...masks.ipv4].sort((a, b) => b - a),
    ipv6: [...masks.ipv6].sort((a, b) => b - a),
  }
  return {
    find: (text) => {
      const canonical = canonicalAddress(text)
      const hit = canonical === undefined ? undefined : exact.get(canonical)
      if (hit !== undefined || ranges.size === 0) return hit
      const address = parseAddress(text)
      if (address === undefined) return undefined
      for (const bits of narrowestFirst[address.kind()]) {
        const found = ranges.get(networkKey({ address, bits }))
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** The one spelling of an address or a range; undefined for other text and for ranges with host bits. */
export const canonicalRange = (text: string): string | undefined => {
  const prefix = parsePrefix(text)
  if (prefix === undefined) return canonicalAddress(text)
  const { address, bits } = prefix
  if (bits === width(address)) return address.toString()
  return network(prefix) === numberOf(address) ? `${address.toString()}/${bits}` : undefined
}

const width = (address: Address): number => (isIPv6(address) ? 128 : 32)

const networkKey = (prefix: Prefix): string =>
  `${prefix.address.kind()}/${prefix.bits}/${network(prefix).toString(16)}`

function network({ address, bits }: Prefix): bigint {
  const host = BigInt(width(address) - bits)
  return (numberOf(address) >> host) << host
}

const numberOf = (address: Address): bigint =>
  address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
