/** A domain's staged delays, decided by the engine in whole seconds. */
import { decodeStaged, encodeStaged } from '../core/codec.ts'
import { decideStaged, type Stage, type StagedState, type Value } from '../core/index.ts'
import { UNTOUCHED } from '../core/staged.ts'
import type { Rule } from './rule.ts'
import { floorToSecond, wholeSeconds } from './whole-seconds.ts'

export const stagedRule = (stages: readonly Stage[]): Rule => ({
  stateful: true,
  attempt: (state, now) => {
    const question = { now: floorToSecond(now), cost: 1, mode: 'spend' as const }
    const { decision, next } = decideStaged({ kind: 'staged', stages }, stored(state), question)
    if (!decision.allowed) return { allowed: false, retryIn: decision.retryIn }
    return next === undefined ? { allowed: true } : { allowed: true, next: encodeStaged(next) }
  },
  counter: (state) => stored(state).counter,
  status: (state, now) => {
    const { counter, timer } = stored(state)
    return { counter, timer: wholeSeconds(timer), now: wholeSeconds(now) }
  },
})

function stored(state: Value | undefined): StagedState {
  return state === undefined ? UNTOUCHED : decodeStaged(state)
}
