/**
 * What a domain allows: a pure function over a small state, which the domain's record keeps as text.
 * Three follow from limits of the engine: stages of delays, a cap, and a quota that comes back; a
 * fourth climbs a ladder of delays that are expressions.
 */

import { assert } from '../../core/errors.ts'
import { decideGcra, decodeGcra, encodeGcra, type GcraLimit } from '../../core/gcra.ts'
import { threeNumbers } from '../../core/numbers.ts'
import {
  decideStaged,
  decodeStaged,
  encodeStaged,
  type Stage,
  type StagedState,
  UNTOUCHED,
} from '../../core/staged.ts'
import type { Value } from '../../core/store.ts'
import { type Instant, instant, type Span, seconds, span, type Wait } from '../../core/time.ts'
import { refuseDomain } from '../mistake.ts'
import type { DelayExpression } from './delay-expression.ts'

export interface Rule {
  /** Without state there is nothing to charge, and requests need not wait for each other. */
  readonly stateful: boolean
  /** Attempts never run out, however slowly they come: a signer remembers only the newest. */
  readonly endless: boolean
  /** Decides only; to charge the attempt the caller writes `next`. `nonce` is its index where there is one. */
  attempt(state: Value | undefined, now: Instant, nonce?: number): RuleDecision
  /** How many attempts were made: a nonce below it was used up. */
  counter(state: Value | undefined): number
  /** What a client may know, apart from `disabled`. */
  status(state: Value | undefined, now: Instant): QuotaStatus
}

export type RuleDecision =
  /** `next` is the state afterwards; absent where the rule keeps none. */
  | { readonly allowed: true; readonly next?: Value }
  | { readonly allowed: false; readonly retryIn: Wait }

export type QuotaStatus = Readonly<Record<string, number | boolean | string>>

/** Clients of the domain API count in seconds. Floored, so that answers say little about timing. */
export const wholeSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

const floorToSecond = (point: Instant): Instant => instant(wholeSeconds(point) * 1_000_000)

/** Staged delays, decided by the engine in whole seconds. */
export const stagedRule = (stages: readonly Stage[]): Rule => ({
  stateful: true,
  endless: false,
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

/** More stages than anyone lays out by hand; each is walked at every attempt. */
export const MAX_STAGES = 64

/** Below 2^40 seconds, 35 thousand years: a longer delay is an overflow, not a plan. */
export const MAX_DELAY_SECONDS = 2 ** 40 - 1

/** Attempts in one stage. A stage of more is no limit. */
const MAX_STAGE_ATTEMPTS = 1_000_000_000

export const checkStageSize = (stage: number, batch: number, repetitions: number): void => {
  const attempts = batch * repetitions
  if (attempts >= 1 && attempts <= MAX_STAGE_ATTEMPTS) return
  const rule = `must hold 1 to ${MAX_STAGE_ATTEMPTS} attempts in all its batches`
  refuseDomain(`stage ${stage + 1}`, rule, attempts)
}

/**
 * A number of attempts that never comes back: one stage without delay. Its timer stays at the epoch,
 * so a clock that steps back refuses no attempt.
 */
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

/** Counts and refuses nothing. */
export const uncappedRule: Rule = { ...cappedRule(Number.MAX_SAFE_INTEGER), endless: true }

/** A quota that comes back one attempt at a time, up to a cap: GCRA, whose bucket starts full. */
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
    endless: true,
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

/**
 * Stages whose delays are expressions, and whose last stage may have no end ("ODIS RateLimit
 * Structures", "Potential Future Extensions"). The engine's stages list their delays; here each
 * follows from the one before, so the state keeps the last.
 *
 * The attempt's index is its nonce. An attempt that was skipped, because other signers answered it,
 * counts as made when it was due: skipping saves no wait. The first attempt seen sets the timer.
 */
export interface LadderStage {
  readonly delay: DelayExpression
  readonly cumulative: boolean
  readonly batch: number
  /** Infinity for a last stage without end. */
  readonly repetitions: number
}

/** How far a nonce may be ahead of what this signer saw. A signer that missed more has lost its state. */
export const MAX_SKIPPED = 1_000

export const ladderRule = (stages: readonly LadderStage[]): Rule => ({
  stateful: true,
  endless: stages.some(({ repetitions }) => repetitions === Number.POSITIVE_INFINITY),
  attempt: (state, now, nonce) => climb(stages, decode(state), floorToSecond(now), nonce),
  counter: (state) => decode(state).counter,
  status: (state, now) => {
    const { counter, timer } = decode(state)
    return { counter, timer: wholeSeconds(timer), now: wholeSeconds(now) }
  },
})

interface Rung {
  readonly counter: number
  readonly timer: Instant
  /** The delay of the batch that holds the last attempt. */
  readonly delay: Span
}

const GROUND: Rung = { counter: 0, timer: instant(0), delay: span(0) }

interface Place {
  readonly stage: LadderStage
  /** From 1, over all stages with their repetitions laid out. */
  readonly batch: number
  readonly opensBatch: boolean
}

function climb(
  stages: readonly LadderStage[],
  from: Rung,
  now: Instant,
  nonce = from.counter,
): RuleDecision {
  assert(nonce >= from.counter, 'a nonce below the counter was refused before')
  if (nonce - from.counter > MAX_SKIPPED) return { allowed: false, retryIn: 'never' }
  let { timer, delay } = from
  for (let index = from.counter; index <= nonce; index++) {
    const place = locate(stages, index)
    const next = place?.opensBatch === true ? place.stage.delay(place.batch, delay) : delay
    if (place === undefined || next === undefined) return { allowed: false, retryIn: 'never' }
    delay = next
    const due = timer + (place.opensBatch && from.counter > 0 ? delay : 0)
    if (!Number.isSafeInteger(due)) return { allowed: false, retryIn: 'never' }
    timer = instant(due)
  }
  if (now < timer) return { allowed: false, retryIn: span(timer - now) }
  const keeps = from.counter > 0 && staysCumulative(stages, nonce)
  return { allowed: true, next: encode({ counter: nonce + 1, timer: keeps ? timer : now, delay }) }
}

/** The timer keeps the due time only between two cumulative attempts; see `layOut` in core/staged.ts. */
function staysCumulative(stages: readonly LadderStage[], index: number): boolean {
  const here = locate(stages, index)?.stage.cumulative ?? false
  return here && (locate(stages, index + 1)?.stage.cumulative ?? false)
}

function locate(stages: readonly LadderStage[], index: number): Place | undefined {
  let made = index
  let batches = 0
  for (const stage of stages) {
    if (made < stage.batch * stage.repetitions) {
      const batch = batches + Math.floor(made / stage.batch) + 1
      return { stage, batch, opensBatch: made % stage.batch === 0 }
    }
    made -= stage.batch * stage.repetitions
    batches += stage.repetitions
  }
  return undefined
}

function encode({ counter, timer, delay }: Rung): Value {
  return `${counter} ${timer} ${delay}`
}

function decode(state: Value | undefined): Rung {
  if (state === undefined) return GROUND
  const [counter, timer, delay] = threeNumbers(state)
  return { counter, timer: instant(timer), delay: span(delay) }
}
