/** The mistakes that a file of spending plans can hold. */
import { HeadgateError, type Mistake } from '../core/errors.ts'

export type PlanErrorCode =
  | 'CONFIG_MISSING'
  | 'CONFIG_NOT_JSON'
  | 'CONFIG_NOT_ARRAY'
  | 'CONFIG_TOO_MANY_PLANS'
  | 'PLAN_NOT_OBJECT'
  | 'PLAN_FIELD_UNKNOWN'
  | 'PLAN_FIELD_CONFLICT'
  | 'PLAN_FIELD_INVALID'
  | 'PLAN_ID_MISSING'
  | 'PLAN_ID_INVALID'
  | 'PLAN_ID_DUPLICATE'
  | 'PLAN_TYPE_MISSING'
  | 'PLAN_TYPE_INVALID'
  | 'PLAN_NO_ADDRESSES'
  | 'PLAN_ADDRESS_INVALID'
  | 'PLAN_ADDRESS_DUPLICATE'

/** A mistake in one entry of a list of plans, counted from 0; without an index it is the list's. */
export class PlanError extends HeadgateError<PlanErrorCode> {
  override readonly name = 'PlanError'
  readonly index: number | undefined

  constructor(mistake: Mistake<PlanErrorCode>, index?: number, options?: ErrorOptions) {
    super(mistake, options)
    this.index = index
  }
}
