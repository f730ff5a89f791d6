/** The two kinds of store that the limiter runs over: all in one partition, or a partition for each tag. */
import type { Store } from '../../src/core/store.ts'
import { pretendedCluster } from '../../src/testing/index.ts'

export const PARTITIONS: readonly [name: string, over: (inner: Store) => Store][] = [
  ['one partition', (inner) => inner],
  ['a cluster', pretendedCluster],
]
