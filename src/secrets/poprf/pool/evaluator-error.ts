/** The evaluator is unwell or too busy. Nobody's request is to blame, and a later one may do better. */
import { HeadgateError, type Mistake } from '../../../core/errors.ts'

/** Each has a heading in docs/reference/errors.md. */
export const EVALUATOR_ERROR_CODES = [
  'EVALUATOR_QUEUE_FULL',
  'EVALUATOR_TIMEOUT',
  'EVALUATOR_LOST',
  'EVALUATOR_CLOSED',
] as const

export type EvaluatorErrorCode = (typeof EVALUATOR_ERROR_CODES)[number]

export class EvaluatorError extends HeadgateError<EvaluatorErrorCode> {
  override readonly name = 'EvaluatorError'
}

export const evaluatorError = (
  mistake: Omit<Mistake<EvaluatorErrorCode>, 'thing'>,
): EvaluatorError => new EvaluatorError({ thing: 'evaluator', ...mistake })
