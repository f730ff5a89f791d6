/** The suite's hash: BLAKE2s of the message, expanded by BLAKE2Xs (BLAKE2X, 2016) to any length. */
import { blake2s } from './blake2s.ts'
import { type Bytes, concat } from './bytes.ts'

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
  return concat(...nodes)
}
