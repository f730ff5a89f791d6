/**
 * Staged delays: a finite ladder of waits between attempts, as used to slow guesses at a PIN.
 *
 * Two documents, one function. The deployed rule (CIP-40, `SequentialDelayDomain`) keeps a counter
 * and a timer: attempt i is due at `timer + delay`, and afterwards the timer is that due time, or
 * `now` if the stage resets it. The rule of "ODIS RateLimit Structures" speaks of cumulative stages
 * instead; `layOut` translates those stages into deployed ones.
 */
import { assert, HeadgateError } from './errors.ts'
import type { Decision, Outcome, Question } from './limit.ts'
import { threeNumbers } from './numbers.ts'
import type { Value } from './store.ts'
import { type Instant, instant, type Span, span } from './time.ts'

export interface StagedLimit {
  readonly kind: 'staged'
  readonly stages: readonly Stage[]
}

/** `repetitions` batches of `batch` attempts each, and a delay before each batch. */
export interface Stage {
  readonly delay: Span
  /** True: the next delay counts from this attempt. False: from when this attempt became due. */
  readonly resetTimer: boolean
  readonly batch: number
  readonly repetitions: number
}

/** Never expires: an attempt once made counts for good. */
export interface StagedState {
  /** How many attempts were made. */
  readonly counter: number
  readonly timer: Instant
  readonly disabled: boolean
}

/** Nothing precedes the first attempt: its delay counts from the epoch. */
export const UNTOUCHED: StagedState = { counter: 0, timer: instant(0), disabled: false }

export const decideStaged = (
  limit: StagedLimit,
  stored: StagedState | undefined,
  { now, cost, mode }: Question<number>,
): Outcome<StagedState> => {
  assert(cost === 1, 'an attempt costs 1')
  assert(mode !== 'refund' && mode !== 'record', 'an attempt is made or refused, never undone')
  const state = stored ?? UNTOUCHED
  const next = attempt(limit, state, now)
  if (next === undefined) return { decision: refusal(limit, state, now) }
  const decision: Decision = { allowed: true, ...outlook(limit, next, now) }
  return mode === 'check' ? { decision } : { decision, next }
}

/** Permanent: there is no way back, and it outranks any quota left. */
export const disable = (stored: StagedState | undefined): StagedState => ({
  ...(stored ?? UNTOUCHED),
  disabled: true,
})

/** When the next attempt is due; undefined when there is none. */
export const dueAt = (limit: StagedLimit, stored: StagedState | undefined): Instant | undefined => {
  const { counter, timer, disabled } = stored ?? UNTOUCHED
  const place = disabled ? undefined : locate(limit.stages, counter)
  return place === undefined ? undefined : due(timer, place)
}

/** A stage, and how far into it an attempt stands. */
interface Place {
  readonly stage: Stage
  readonly made: number
}

function locate(stages: readonly Stage[], counter: number): Place | undefined {
  let made = counter
  for (const stage of stages) {
    const size = stage.batch * stage.repetitions
    if (made < size) return { stage, made }
    made -= size
  }
  return undefined
}

function due(timer: Instant, { stage, made }: Place): Instant {
  // Not `instant()`: a delay may reach beyond 2^53 µs, and then this is only compared, never kept.
  return (made % stage.batch === 0 ? timer + stage.delay : timer) as Instant
}

function attempt(limit: StagedLimit, state: StagedState, now: Instant): StagedState | undefined {
  const place = state.disabled ? undefined : locate(limit.stages, state.counter)
  if (place === undefined) return undefined
  const notBefore = due(state.timer, place)
  if (now < notBefore) return undefined
  const timer = place.stage.resetTimer ? now : notBefore
  return { counter: state.counter + 1, timer, disabled: false }
}

function refusal(limit: StagedLimit, state: StagedState, now: Instant): Decision {
  const facts = outlook(limit, state, now)
  if (state.disabled) return { allowed: false, reason: 'DISABLED', ...facts }
  return { allowed: false, reason: facts.retryIn === 'never' ? 'EXHAUSTED' : 'NOT_DUE', ...facts }
}

/** Staged limits never become as if unused, so `resetIn` is always 'never'. */
function outlook(limit: StagedLimit, state: StagedState, now: Instant) {
  const at = dueAt(limit, state)
  const retryIn = at === undefined ? ('never' as const) : (Math.max(0, at - now) as Span)
  return { remaining: attemptsNow(limit, state, now), resetIn: 'never' as const, retryIn }
}

/** How many attempts would succeed now, one right after the other. Stage by stage, not one by one. */
function attemptsNow(limit: StagedLimit, state: StagedState, now: Instant): number {
  let { counter, timer } = state
  let count = 0
  for (;;) {
    const place = state.disabled ? undefined : locate(limit.stages, counter)
    if (place === undefined || now < due(timer, place)) return count
    const { stage, made } = place
    const left = stage.batch * stage.repetitions - made
    const opened = made % stage.batch === 0 ? due(timer, place) : timer
    const restOfBatch = stage.batch - (made % stage.batch)
    const more = batchesDue(stage, stage.resetTimer ? now : opened, now)
    const taken = Math.min(left, restOfBatch + more * stage.batch)
    const batches = Math.ceil((taken - restOfBatch) / stage.batch)
    timer = stage.resetTimer ? now : instant(opened + batches * stage.delay)
    count += taken
    counter += taken
  }
}

/** How many further batches are due by now, if the last one was due at `timer`. */
function batchesDue(stage: Stage, timer: Instant, now: Instant): number {
  return stage.delay === span(0) ? stage.repetitions : Math.floor((now - timer) / stage.delay)
}

export const encodeStaged = ({ counter, timer, disabled }: StagedState): Value =>
  `${counter} ${timer} ${disabled ? 1 : 0}`

export const decodeStaged = (value: Value): StagedState => {
  const [counter, timer, disabled] = threeNumbers(value)
  return { counter, timer: instant(timer), disabled: disabled === 1 }
}

/**
 * A stage as "ODIS RateLimit Structures" writes it. A cumulative attempt counts its delay from the
 * accumulated timer, any other from the previous attempt. In deployed terms, attempt i resets the
 * timer unless both it and the next attempt are cumulative; the first always does. This is not
 * `!cumulative`: the stage that follows decides what the last attempt of a stage leaves behind.
 */
export interface CumulativeStage {
  readonly delay: Span
  readonly cumulative: boolean
  /** Attempts in a row before the next delay. Defaults to 1. */
  readonly batch?: number
  /** Batches in this stage. Defaults to 1. */
  readonly repetitions?: number
}

export type StageErrorCode = 'STAGES_INVALID'

export const layOut = (stages: readonly CumulativeStage[]): readonly Stage[] => {
  const first = stages[0]?.delay ?? 0
  if (first !== 0) {
    throw invalid(0, 'delay', 'must be 0, as nothing precedes the first attempt', first)
  }
  checkStages(stages)
  return stages.flatMap((stage, i) =>
    split(stage, { first: i === 0, resetsLast: !(stages[i + 1]?.cumulative ?? false) }),
  )
}

/** Refuses what has no meaning: batches of no, negative or broken attempts, and negative delays. */
export const checkStages = (stages: readonly Omit<CumulativeStage, 'cumulative'>[]): void => {
  for (const [i, { delay, batch = 1, repetitions = 1 }] of stages.entries()) {
    if (!(delay >= 0)) throw invalid(i, 'delay', 'must not be negative', delay)
    if (!isCount(batch)) throw invalid(i, 'batch', 'must be a whole number from 1', batch)
    if (!isCount(repetitions) || !isCount(repetitions * batch)) {
      throw invalid(i, 'repetitions', 'must be a whole number from 1', repetitions)
    }
  }
}

/** Cuts a stage where the flag changes: its very first attempt, the middle, its last attempt. */
function split(stage: CumulativeStage, edge: { first: boolean; resetsLast: boolean }): Stage[] {
  const { delay, cumulative, batch = 1, repetitions = 1 } = stage
  if (!cumulative) return [{ delay, batch, repetitions, resetTimer: true }]
  const size = batch * repetitions
  const start = edge.first ? 1 : 0
  const end = Math.max(start, edge.resetsLast ? size - 1 : size)
  return [
    ...attempts(stage, 0, start).map((piece) => ({ ...piece, resetTimer: true })),
    ...attempts(stage, start, end).map((piece) => ({ ...piece, resetTimer: false })),
    ...attempts(stage, end, size).map((piece) => ({ ...piece, resetTimer: true })),
  ]
}

/** Attempts `from` up to `to` of a stage: the rest of a batch, whole batches, the start of one. */
function attempts({ delay, batch = 1 }: CumulativeStage, from: number, to: number) {
  const head = Math.min(to, Math.ceil(from / batch) * batch)
  const batches = Math.floor((to - head) / batch)
  const tail = to - head - batches * batch
  // Inside a batch there is no delay.
  const rest = { delay: span(0), batch: head - from, repetitions: 1 }
  const whole = { delay, batch, repetitions: batches }
  const opening = { delay, batch: tail, repetitions: 1 }
  return [rest, whole, opening].filter((piece) => piece.batch * piece.repetitions > 0)
}

function isCount(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 1
}

function invalid(index: number, field: string, rule: string, finding: number) {
  return new HeadgateError<StageErrorCode>({
    code: 'STAGES_INVALID',
    thing: `stage ${index + 1}, ${field}`,
    rule,
    finding: String(finding),
  })
}
