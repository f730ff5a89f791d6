/** A mistake in a request that no pillar had to look at. */
import { HeadgateError, type Mistake } from '../../core/index.ts'
import type { HttpErrorCode } from '../problems.ts'

export const httpMistake = (mistake: Mistake<HttpErrorCode>): HeadgateError<HttpErrorCode> =>
  new HeadgateError(mistake)
