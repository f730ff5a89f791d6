/**
 * Stages whose delays are expressions, and whose last stage may have no end ("ODIS RateLimit
 * Structures", "Potential Future Extensions"). A limit of the engine lists its delays; here each
 * comes from the one before it, so the state keeps the last.
 *
 * The attempt's index is its nonce. An attempt that was skipped, because other signers answered it,
 * counts as made when it was due: skipping saves no wait. The first attempt seen sets the timer.
 */
import { assert } from '../core/errors.ts'
import { type Instant, instant, type Span, span, type Value } from '../core/index.ts'
import type { DelayExpression } from './delay-expression.ts'
import type { Attempt, Rule } from './rule.ts'
import { floorToSecond, wholeSeconds } from './whole-seconds.ts'

export interface LadderStage {
  readonly delay: DelayExpression
  readonly cumulative: boolean
  readonly batch: number
  /** Infinity for a last stage without end. */
  readonly repetitions: number
}

/** How far a nonce may run ahead of what this signer saw; signers that miss more have lost their state. */
export const MAX_SKIPPED = 1_000

export const ladderRule = (stages: readonly LadderStage[]): Rule => ({
  stateful: true,
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
): Attempt {
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

/** The timer keeps the due time only between two cumulative attempts; see core/stage-layout.ts. */
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
  const [counter, timer, delay] = state.split(' ').map(Number)
  assert(counter !== undefined && timer !== undefined && delay !== undefined, 'three numbers')
  return { counter, timer: instant(timer), delay: span(delay) }
}
