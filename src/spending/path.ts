/** The path of one admission: every node that money passes, in the order in which they may refuse. */
import type { BudgetLimit } from '../core/budget.ts'
import type { Wait } from '../core/time.ts'
import { type PlanAllowance, readAllowance } from './allowance.ts'
import { balanceRule } from './balance.ts'
import type { Context } from './context.ts'
import { OUTFLOW } from './keys.ts'
import { ipNode, operationNode, type Party, planNode, planOperationNode, TOTAL } from './party.ts'
import type { Allowance, Plan } from './plan.ts'
import type { SpendingReason } from './reason.ts'

export interface PathNode {
  readonly node: string
  readonly limit: BudgetLimit
  readonly reason: SpendingReason
  /** Instead of what the limit would say. */
  readonly retryIn?: Wait
}

export interface Path {
  readonly nodes: readonly PathNode[]
  /** How many of them come before anyone asks which plan pays. */
  readonly common: number
  readonly allowance: PlanAllowance | undefined
}

export const pathFor = (context: Context, party: Party, plan: Plan | undefined): Path => {
  const { calendar } = context
  const allowance =
    plan === undefined ? undefined : readAllowance(context, plan, calendar.window.startsAt)
  const common = commonNodes(context, party)
  const own =
    plan === undefined || allowance === undefined ? [] : planNodes(context, party, plan, allowance)
  return { nodes: [...common, ...own], common: common.length, allowance }
}

/** What everyone passes, whoever pays. */
function commonNodes(context: Context, { operation }: Party): readonly PathNode[] {
  const { total, categories } = context.settings
  const category = categories.get(operation) ?? 'unlimited'
  return [
    { node: TOTAL, limit: budget(context, total), reason: 'TOTAL_BUDGET' },
    { node: OUTFLOW, ...balanceRule(context) },
    {
      node: operationNode(operation),
      limit: budget(context, category),
      reason: 'CATEGORY_LIMIT',
    },
  ]
}

function planNodes(
  context: Context,
  { operation, ip }: Party,
  plan: Plan,
  { amount }: PlanAllowance,
): readonly PathNode[] {
  const { ipCeiling = 'unlimited', planCategories } = context.settings
  const category = plan.categories?.get(operation) ?? planCategories?.get(operation)
  const ceiling: readonly PathNode[] =
    ip === undefined
      ? []
      : [{ node: ipNode(ip), limit: budget(context, ipCeiling), reason: 'IP_LIMIT' }]
  return [
    ...ceiling,
    {
      node: planOperationNode(plan.id, operation),
      limit: budget(context, category ?? 'unlimited'),
      reason: 'PLAN_CATEGORY_LIMIT',
    },
    { node: planNode(plan.id), limit: budget(context, amount), reason: 'PLAN_LIMIT' },
  ]
}

function budget({ calendar }: Context, amount: Allowance): BudgetLimit {
  return { kind: 'budget', amount, endsAt: calendar.window.endsAt }
}
