/**
 * Kinds of stores that the suites of the pillars run over in the place of memory, by the word in
 * HEADGATE_STORE; with the test files that say nothing about a kind, and why.
 */

/** They count keys or round trips, or speak of one partition; over a cluster each has cases of its own. */
const OF_ONE_PARTITION = [
  'src/requests/limiter/places.test.ts',
  'src/requests/limiter/round-trips.test.ts',
  'src/secrets/signer/clock-record.test.ts',
  'src/secrets/signer/shards.test.ts',
]

/** It moves time by hand, faster than an answer arrives from anywhere but memory. */
const BY_HAND = ['src/subjects/gate-silence.test.ts']

/** They count what a call costs, and one that is asked again costs more. */
const OF_COST = [
  'src/requests/limiter/round-trips.test.ts',
  'src/secrets/signer/round-trips.test.ts',
  'src/spending/flow/cost.test.ts',
  'src/spending/flow/round-trips.test.ts',
]

export const PILLARS = ['src/requests', 'src/spending', 'src/subjects', 'src/secrets/signer']

/** What is left out over each. */
export const OTHER_STORES = {
  cluster: OF_ONE_PARTITION,
  remote: BY_HAND,
  lossy: OF_COST,
  sqlite: BY_HAND,
  redis: BY_HAND,
  'redis-cluster': [...OF_ONE_PARTITION, ...BY_HAND],
  postgres: BY_HAND,
}
