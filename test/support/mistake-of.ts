import { HeadgateError } from '../../src/core/errors.ts'

/** The mistake that a call is refused for. Anything else thrown, or nothing, fails the test. */
export function mistakeOf(call: () => unknown): HeadgateError {
  try {
    call()
  } catch (error) {
    if (error instanceof HeadgateError) return error
    throw error
  }
  throw new Error('expected a HeadgateError, but the call returned')
}
