/**
 * Where what a signer keeps lies: in one of sixteen shards, by the first digit of the domain's hash.
 * The shard is the tag of every name, so a domain's record, its attempts, the audit stream that tells of
 * them and the record of the clock that judges them share a partition, and one transaction changes them.
 *
 * Fixed for good: with another number of shards no record would be found again, and every attempt
 * would be given back.
 */
import { nameOf } from '../../core/names.ts'
import type { Store } from '../../core/store.ts'
import { toHex } from '../eip712/ethereum.ts'

/** A digit of a hash. Few, as each has a clock and a stream that are read; many more than a cluster has nodes at first. */
export const SHARDS: readonly string[] = [...'0123456789abcdef']

export const shardOf = (domainHash: Uint8Array): string =>
  toHex(domainHash.subarray(0, 1)).slice(0, 1)

/** A key or a stream of this shard. */
export const secretName = (shard: string, ...parts: readonly string[]): string =>
  nameOf('secrets', shard, ...parts)

/** Shards that one transaction can reach together: all of them, unless the store is a cluster. */
export const shardGroups = (store: Pick<Store, 'partition'>): readonly (readonly string[])[] => {
  const groups = new Map<string, string[]>()
  for (const shard of SHARDS) {
    const partition = store.partition(secretName(shard))
    const group = groups.get(partition)
    if (group === undefined) groups.set(partition, [shard])
    else group.push(shard)
  }
  return [...groups.values()]
}
