/**
 * "ODIS RateLimit Structures": stages of delay, cumulative, batch and repetitions, translated into
 * the deployed stages of staged.ts.
 *
 * A cumulative attempt counts its delay from the accumulated timer, any other from the previous
 * attempt. In deployed terms, attempt i resets the timer unless both it and the next attempt are
 * cumulative; the first always does. This is not `!cumulative`: the stage that follows decides what
 * the last attempt of a stage leaves behind.
 */
import { HeadgateError } from './errors.ts'
import type { Stage } from './staged.ts'
import { type Span, span } from './time.ts'

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
