/** Quota that comes back one attempt at a time, up to a cap: GCRA, whose bucket starts full. */
import { decodeGcra, encodeGcra } from '../core/codec.ts'
import { decideGcra, type GcraLimit, type Instant, type Span, type Value } from '../core/index.ts'
import type { Rule } from './rule.ts'
import { wholeSeconds } from './whole-seconds.ts'

export const refreshedRule = (cap: number, refresh: Span): Rule => {
  const limit: GcraLimit = { kind: 'gcra', burst: cap, count: 1, period: refresh }
  const ask = (state: Value | undefined, now: Instant, cost: number) =>
    decideGcra(limit, state === undefined ? undefined : decodeGcra(state), {
      now,
      cost,
      mode: cost === 0 ? 'check' : 'spend',
    })
  return {
    stateful: true,
    attempt: (state, now) => {
      const { decision, next } = ask(state, now, 1)
      if (!decision.allowed) return { allowed: false, retryIn: decision.retryIn }
      return next === undefined ? { allowed: true } : { allowed: true, next: encodeGcra(next) }
    },
    counter: () => 0,
    status: (state, now) => {
      const { remaining } = ask(state, now, 0).decision
      return { remaining: Number(remaining), now: wholeSeconds(now) }
    },
  }
}
