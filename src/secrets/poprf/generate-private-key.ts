/** A new private key: a scalar that nobody can guess. */
import { randomBytes } from '@noble/hashes/utils.js'
import type { Bytes } from './bytes.ts'
import { encodeScalar, type RandomBytes, randomScalar } from './curve/scalar.ts'

/** The caller zeroises the bytes when it is done with them. */
export const generatePrivateKey = (random: RandomBytes = randomBytes): Bytes =>
  encodeScalar(randomScalar(random))
