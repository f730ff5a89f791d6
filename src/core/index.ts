/** The engine: limits as pure functions. No clock, no I/O; runs in browsers too. */
export {
  type BudgetLimit,
  type BudgetState,
  decideBudget,
  endHold,
  type Hold,
  holdExpiry,
  totalHeld,
} from './budget.ts'
export { type Charge, decide, type Verdict } from './decide.ts'
export { type BatchErrorCode, type BatchVerdict, decideAll } from './decide-all.ts'
export { formatDuration, parseDuration } from './duration.ts'
export {
  describePosition,
  HeadgateError,
  type Mistake,
  type Position,
  StoreError,
  type StoreErrorCode,
} from './errors.ts'
export {
  capacity,
  decideGcra,
  emissionInterval,
  type GcraLimit,
  type GcraState,
  MAX_CAPACITY,
} from './gcra.ts'
export type {
  Allowed,
  Amount,
  Decision,
  Limit,
  LimitState,
  Mode,
  Outcome,
  Question,
  RefusalReason,
  Refused,
} from './limit.ts'
export { type CumulativeStage, checkStages, layOut, type StageErrorCode } from './stage-layout.ts'
export {
  decideStaged,
  disable,
  dueAt,
  type Stage,
  type StagedLimit,
  type StagedState,
} from './staged.ts'
export {
  type Append,
  answer,
  type Entry,
  type Item,
  type Key,
  type Plan,
  type Step,
  type Store,
  type Value,
  type View,
  type Write,
} from './store.ts'
export { strictest } from './strictest.ts'
export {
  after,
  between,
  type Clock,
  days,
  hours,
  type Instant,
  instant,
  micros,
  millis,
  minutes,
  type Span,
  seconds,
  span,
  toMillis,
  toSeconds,
  type Wait,
} from './time.ts'
export { type Window, type WindowRule, windowAt } from './window.ts'
