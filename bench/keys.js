/** The ids that variants are asked about. */

/** Prime, so that every key has its turn, and far enough that neighbours in memory are not neighbours in time. */
const STRIDE = 7_919

/** A new string each time, as a request brings one: nothing has hashed it yet. */
export const keyAt = (n, keys) => `user-${(n * STRIDE) % keys}`
