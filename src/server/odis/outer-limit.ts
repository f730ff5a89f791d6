/**
 * Limits by address and in all, in front of a signer and in their own step (CIP-40). They live in
 * this process: a flood must not reach the disk, and a restart that forgets them gives nobody an attempt.
 */
import type { Store } from '../../core/index.ts'
import { createLimiter, type Limiter, parseCatalog } from '../../requests/index.ts'
import type { OuterVerdict, SignerRequest } from '../../secrets/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { clientAddress } from '../http/client-address.ts'
import type { OuterRate, SignerSettings } from './signer-settings.ts'

export type OuterLimit = (request: SignerRequest) => Promise<OuterVerdict>

const PER_ADDRESS = 'SignerRequestsPerIPAddress'
const IN_ALL = 'SignerRequests'

export type OuterRates = Pick<SignerSettings, 'perAddress' | 'inAll'>

export const createOuterLimit = (rates: OuterRates, store: Store = memoryStore()): OuterLimit => {
  const limiter = openLimiter(rates, store)
  return async ({ client }) => {
    const charges = [
      ...(client === undefined ? [] : [{ limit: PER_ADDRESS, id: clientAddress(client) }]),
      { limit: IN_ALL, id: 'all' },
    ]
    const { allowed, retryIn } = await limiter.spend({ charges })
    if (allowed) return { allowed }
    return retryIn === 'never' ? { allowed } : { allowed, retryIn }
  }
}

/** A limit without a rate allows everything. */
function openLimiter({ perAddress, inAll }: OuterRates, store: Store): Limiter {
  const limits = [
    `${PER_ADDRESS}: { id: ipAddress${rateText(perAddress)} }`,
    `${IN_ALL}: { id: opaque${rateText(inAll)} }`,
  ].join('\n')
  const catalog = parseCatalog({ limits })
  return createLimiter({ store, catalog: () => catalog })
}

const rateText = (rate: OuterRate | undefined): string =>
  rate === undefined ? '' : `, burst: ${rate.count}, count: ${rate.count}, period: ${rate.period}`
