import { HeadgateError } from '../../src/core/errors.ts'

/** The mistake that a promise rejects with. Anything else, or no rejection, fails the test. */
export async function mistakeOfPromise(promise: Promise<unknown>): Promise<HeadgateError> {
  const reason = await promise.then(
    () => new Error('expected a HeadgateError, but the promise resolved'),
    (error: unknown) => error,
  )
  if (reason instanceof HeadgateError) return reason
  throw reason
}
