/** One bucket under a limit that may change, told in a test as a story. */
import {
  chargeDate,
  decideGcra,
  fillGcra,
  type GcraLimit,
  type GcraState,
} from '../../src/core/gcra.ts'
import type { ChargeDate, Mode, Outcome } from '../../src/core/limit.ts'
import { type Instant, instant, seconds } from '../../src/core/time.ts'

export const T0 = instant(1_700_000_000_000_000)
export const perSecond = (n: number, burst = n): GcraLimit => ({
  kind: 'gcra',
  burst,
  count: n,
  period: seconds(1),
})

/** A bucket that remembers what is written to it, as a store would. */
export const keptBucket = (limit: GcraLimit) => {
  let state: GcraState | undefined
  let current = limit
  const ask = (mode: Mode, now: Instant, cost = 1, date?: ChargeDate): Outcome['decision'] => {
    const outcome = decideGcra(current, state, {
      now,
      cost,
      mode,
      ...(date === undefined ? {} : { date }),
    })
    state = outcome.next ?? state
    return outcome.decision
  }
  return {
    ask,
    spend: (now: Instant, cost?: number) => ask('spend', now, cost),
    /** Spends, and says what giving it back needs. */
    charge: (now: Instant, cost: number): ChargeDate => {
      if (!ask('spend', now, cost).allowed || state === undefined) throw new Error('not charged')
      return chargeDate(state)
    },
    reset: (now: Instant) => {
      if (state !== undefined) state = fillGcra(state, now)?.next ?? state
    },
    change: (next: GcraLimit) => {
      current = next
    },
    state: () => state,
  }
}

export const at = (offset: number): Instant => instant(T0 + offset)
