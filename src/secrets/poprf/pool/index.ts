/** Evaluation by either engine, on worker threads or on the spot. */
export { evaluateHere } from './evaluate-here.ts'
export type { EngineName, EvaluationKey, Evaluator, Load } from './evaluator.ts'
export {
  EVALUATOR_ERROR_CODES,
  EvaluatorError,
  type EvaluatorErrorCode,
} from './evaluator-error.ts'
export {
  type EvaluatorOptionErrorCode,
  type EvaluatorPoolOptions,
  startEvaluatorPool,
} from './evaluator-pool.ts'
