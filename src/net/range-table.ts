/** What is kept for addresses and ranges of addresses: of several ranges the narrowest answers. */
import { canonicalAddress, type IpAddress, isIPv6, parseIpAddress } from './addresses.ts'
import { networkStart, type Prefix, parsePrefix } from './prefixes.ts'

interface RangeTable<T> {
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
      const address = parseIpAddress(text)
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

/** Lengths of prefixes, longest first. */
export interface PrefixLengths {
  readonly ipv4: readonly number[]
  readonly ipv6: readonly number[]
}

const countDown = (from: number): readonly number[] =>
  Array.from({ length: from + 1 }, (_, index) => from - index)

export const NO_PREFIX_LENGTHS: PrefixLengths = { ipv4: [], ipv6: [] }
export const ALL_PREFIX_LENGTHS: PrefixLengths = { ipv4: countDown(31), ipv6: countDown(127) }

/** The wider ranges that hold an address or a range, narrowest first: one for each of the lengths. */
export const rangesAround = (text: string, lengths: PrefixLengths): readonly string[] => {
  const address = parseIpAddress(text)
  const prefix = address === undefined ? parsePrefix(text) : { address, bits: width(address) }
  if (prefix === undefined) return []
  return lengths[prefix.address.kind()]
    .filter((bits) => bits < prefix.bits)
    .map((bits) => `${networkStart(prefix.address, bits)}/${bits}`)
}

const width = (address: IpAddress): number => (isIPv6(address) ? 128 : 32)

const networkKey = (prefix: Prefix): string =>
  `${prefix.address.kind()}/${prefix.bits}/${network(prefix).toString(16)}`

function network({ address, bits }: Prefix): bigint {
  const host = BigInt(width(address) - bits)
  return (numberOf(address) >> host) << host
}

const numberOf = (address: IpAddress): bigint =>
  address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
