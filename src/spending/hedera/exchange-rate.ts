/** The price of HBAR in US cents, exact: a fraction, as the network states it. */
import type { Instant, Span } from '../../core/time.ts'
import { type Poller, startPoller, type Timers } from '../../lib/poller.ts'
import type { MirrorNode } from './mirror-node.ts'

export interface ExchangeRate {
  /** This many cents are worth `hbars`. */
  readonly cents: bigint
  readonly hbars: bigint
}

/** A rate from the network, and when the next one applies. */
export interface StatedRate extends ExchangeRate {
  readonly expiresAt: Instant
}

/**
 * A rate that is divided already, as the relay passes it. Undefined for what is no price: zero and
 * below (how the relay says that it has none), NaN, and numbers that no currency reaches.
 */
export const rateOf = (centsPerHbar: number): ExchangeRate | undefined => {
  if (!(centsPerHbar > 0 && centsPerHbar < MAX_CENTS_PER_HBAR)) return undefined
  const cents = BigInt(centsPerHbar.toFixed(RATE_DECIMALS).replace('.', ''))
  return cents === 0n ? undefined : { cents, hbars: 10n ** BigInt(RATE_DECIMALS) }
}

/** Ten million dollars for one HBAR. */
const MAX_CENTS_PER_HBAR = 1e9

/** Finer than the network's own fraction, which has five or six digits. */
const RATE_DECIMALS = 12

export interface RatePoll extends Poller {
  /** Undefined until the first answer. May be past its expiry: an old price is better than none. */
  current(): StatedRate | undefined
}

export interface RatePollOptions {
  readonly mirrorNode: Pick<MirrorNode, 'exchangeRate'>
  readonly every: Span
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

/** Keeps the rate as fresh as a mirror node has it; the last good one while it has none. */
export const startRatePoll = ({ mirrorNode, ...rest }: RatePollOptions): RatePoll => {
  let latest: StatedRate | undefined
  const { stop } = startPoller({
    ...rest,
    ask: () => mirrorNode.exchangeRate(),
    onAnswer: (rate) => {
      latest = rate
    },
  })
  return { stop, current: () => latest }
}
