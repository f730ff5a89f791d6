/** A number of attempts that never comes back. */
import { seconds } from '../core/index.ts'
import type { Rule } from './rule.ts'
import { stagedRule } from './staged-rule.ts'
import { wholeSeconds } from './whole-seconds.ts'

/** One stage without delay. Its timer stays at the epoch, so a clock that steps back refuses nobody. */
export const cappedRule = (cap: number): Rule => {
  const stage = { delay: seconds(0), resetTimer: false, batch: cap, repetitions: 1 }
  const rule = stagedRule(cap === 0 ? [] : [stage])
  return {
    ...rule,
    status: (state, now) => {
      const counter = rule.counter(state)
      return { counter, remaining: Math.max(0, cap - counter), now: wholeSeconds(now) }
    },
  }
}
