/** The price of HBAR in US cents, exact: a fraction, as the network states it. */
import { type Instant, instant } from '../core/time.ts'
import type { Field } from '../documents/index.ts'
import { mirrorField, mirrorNumber, refuseMirror } from './mirror-answer.ts'

export interface ExchangeRate {
  /** This many cents are worth `hbars`. */
  readonly cents: bigint
  readonly hbars: bigint
}

/** A rate from the network, and when the next one applies. */
export interface StatedRate extends ExchangeRate {
  readonly expiresAt: Instant
}

/** The mirror node's answer to `/api/v1/network/exchangerate`: its current rate. */
export const readExchangeRate = (answer: Field): StatedRate => {
  const current = mirrorField(answer, 'current_rate')
  const cents = mirrorNumber(mirrorField(current, 'cent_equivalent'))
  const hbars = mirrorNumber(mirrorField(current, 'hbar_equivalent'))
  if (cents === 0n || hbars === 0n) refuseMirror(current, 'must be above zero on both sides')
  const expiry = mirrorNumber(mirrorField(current, 'expiration_time'))
  return { cents, hbars, expiresAt: instant(Number(expiry) * 1_000_000) }
}

/**
 * A rate that somebody divided already, as the relay passes it. Undefined for what is no price: zero
 * and below (how the relay says that it has none), NaN, and numbers that no currency reaches.
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
