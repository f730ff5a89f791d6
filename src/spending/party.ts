/** Whose money moves: the accounts that one charge is booked on, each a balance of its own. */
import type { SpendingMode } from './ask.ts'
import { implicitPlanId } from './implicit-plan.ts'
import { OUTFLOW } from './keys.ts'
import type { Tier } from './plan.ts'

export interface Party {
  readonly plan?: string | undefined
  readonly tier?: Tier | undefined
  /** The canonical address, whichever plan pays for it. */
  readonly member?: string | undefined
  /** The address or /64 under the ceiling; absent where no ceiling could apply. */
  readonly ip?: string | undefined
  readonly operation: string
  readonly mode: SpendingMode
}

export const TOTAL = 'total'

/** Transactions of one kind, for reports: those that Ethereum users sign, and all others. */
export type Family = 'ETHEREUM' | 'HEDERA'

export const familyOf = (operation: string): Family =>
  operation.startsWith('Ethereum') ? 'ETHEREUM' : 'HEDERA'

export const operationNode = (operation: string): string => `operation/${operation}`
export const modeNode = (mode: SpendingMode): string => `mode/${mode}`
export const planNode = (plan: string): string => `plan/${plan}`
/** The operation first: it has no slash, and a plan's id may. */
export const planOperationNode = (plan: string, operation: string): string =>
  `plan-operation/${operation}/${plan}`
export const ipNode = (ip: string): string => `ip/${ip}`

/** The accounts that may have a limit: a hold stands on each of them. */
export const limitedNodesOf = ({ plan, ip, operation }: Party): readonly string[] => [
  TOTAL,
  OUTFLOW,
  operationNode(operation),
  ...(plan === undefined ? [] : [planNode(plan), planOperationNode(plan, operation)]),
  ...(ip === undefined ? [] : [ipNode(ip)]),
]

/**
 * Every account of a charge. The number does not depend on how many plans there are. Those that no
 * limit can name only count what was spent: a hold there would be written and never asked for. The
 * member of a plan of its own has no second account.
 */
export const nodesOf = (party: Party): readonly string[] => [
  ...limitedNodesOf(party),
  modeNode(party.mode),
  ...(party.tier === undefined ? [] : [`tier/${party.tier}`]),
  ...memberNodes(party),
]

function memberNodes({ plan, member }: Party): readonly string[] {
  return member === undefined || plan === implicitPlanId(member) ? [] : [`member/${member}`]
}
