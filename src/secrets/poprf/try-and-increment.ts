/** Hashing by trial: a counter before the message is raised until the digest is usable. */
import { assert } from '../../core/errors.ts'
import { blake2xs, type HashDomain } from './blake2xs.ts'
import { type Bytes, concat } from './bytes.ts'

/** More than a third of all digests are usable: that this many fail has a chance below 2^-150. */
const MAX_TRIES = 255

/** The digest is `length` bytes rounded up to whole nodes of 32; `use` sees the first `length`. */
export const tryAndIncrement = <T>(
  domain: HashDomain,
  message: Bytes,
  length: number,
  use: (digest: Bytes) => T | undefined,
): T => {
  const whole = 32 * Math.ceil(length / 32)
  for (let counter = 0; counter < MAX_TRIES; counter++) {
    const digest = blake2xs(domain, concat(Uint8Array.of(counter), message), whole)
    const found = use(digest.subarray(0, length))
    if (found !== undefined) return found
  }
  return unusable()
}

function unusable(): never {
  assert(false, 'no counter gives a usable digest')
}
