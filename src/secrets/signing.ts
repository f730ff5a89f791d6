/**
 * Signs for a domain. An attempt is charged before its answer is released, and never given back:
 * look at the quota, evaluate while holding the result, then charge and remember in one
 * transaction, then release. A crash or a failed evaluation before that costs nothing.
 */
import { HeadgateError, type Store } from '../core/index.ts'
import type { DomainRequest } from './domain-kind.ts'
import { recordKey } from './domain-record.ts'
import { type Admission, chargeStep, lookStep } from './domain-steps.ts'
import type { Matter } from './judge.ts'
import type { VersionedKey } from './key-version.ts'
import type { EvaluationKey, Evaluator } from './poprf/pool/evaluator.ts'
import { EvaluatorError } from './poprf/pool/evaluator-error.ts'
import { type Refusal, refuseBusy, refused } from './refusal.ts'
import { createTurns } from './turns.ts'

export interface SigningOptions {
  readonly store: Store
  readonly evaluator: Pick<Evaluator, 'evaluate'>
}

/** A request that is authenticated, and all that is needed to answer it. */
export interface SigningTask {
  readonly request: DomainRequest
  readonly blindedMessage: Uint8Array
  readonly matter: Matter
  readonly key: VersionedKey<EvaluationKey>
}

export interface Signed extends Admission {
  readonly keyVersion: number
  readonly evaluation: Uint8Array
}

export type Sign = (task: SigningTask) => Promise<Signed | Refusal>

export const createSigning = ({ store, evaluator }: SigningOptions): Sign => {
  const turns = createTurns()

  const evaluate = async (task: SigningTask): Promise<Uint8Array | Refusal> => {
    try {
      const { key, request, blindedMessage } = task
      return await evaluator.evaluate(key.key, request.domainHash, blindedMessage)
    } catch (error) {
      return evaluationRefusal(error)
    }
  }

  const sign: Sign = async (task) => {
    const { request, matter, key } = task
    const record = recordKey(request)
    const seen = await store.transact((view) => lookStep(view, record, matter), [record])
    if (seen.kind === 'refused') return seen
    const evaluation = await evaluate(task)
    if ('kind' in evaluation) return evaluation
    const charge = await store.transact(
      (view) => chargeStep(view, record, matter, key.version),
      [record],
    )
    return charge.kind === 'refused' ? charge : { ...charge, keyVersion: key.version, evaluation }
  }

  return async (task) => {
    if (!task.matter.rule.stateful) return sign(task)
    return turns.take(recordKey(task.request), () => sign(task)) ?? refuseBusy()
  }
}

/** The evaluator's own trouble, or a message that only the curve could tell to be wrong. */
function evaluationRefusal(error: unknown): Refusal {
  if (error instanceof EvaluatorError) return refuseBusy()
  if (error instanceof HeadgateError) return refused('MALFORMED_REQUEST', error.message)
  throw error
}
