/** Why spending is refused: one reason, that of the first node on the path that does not cover it. */

/**
 * - `TOTAL_BUDGET`: the payer's budget of this window.
 * - `OPERATOR_BALANCE`: what the payer has, less the floor; `OPERATOR_BALANCE_STALE`: nobody knows.
 * - `CATEGORY_LIMIT`: the operation's budget for everyone; `PLAN_CATEGORY_LIMIT`: for this plan.
 * - `PLAN_INACTIVE`: the plan was switched off.
 * - `IP_LIMIT`: the ceiling over all BASIC users behind one address.
 * - `PLAN_LIMIT`: the plan's allowance, its grants included.
 * - `STORE_UNAVAILABLE`: nobody knows what was spent, so nothing more is.
 */
export type SpendingReason =
  | 'TOTAL_BUDGET'
  | 'OPERATOR_BALANCE'
  | 'OPERATOR_BALANCE_STALE'
  | 'CATEGORY_LIMIT'
  | 'PLAN_INACTIVE'
  | 'IP_LIMIT'
  | 'PLAN_CATEGORY_LIMIT'
  | 'PLAN_LIMIT'
  | 'STORE_UNAVAILABLE'
