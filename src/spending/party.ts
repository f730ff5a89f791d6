/** Whose money moves: the accounts that one charge is booked on, each a balance of its own. */
import type { SpendingMode } from './ask.ts'
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

/** Every account of a charge. The number does not depend on how many plans there are. */
export const nodesOf = ({ plan, tier, member, ip, operation, mode }: Party): readonly string[] => [
  TOTAL,
  OUTFLOW,
  operationNode(operation),
  modeNode(mode),
  ...(tier === undefined ? [] : [`tier/${tier}`]),
  ...(plan === undefined ? [] : [planNode(plan), planOperationNode(plan, operation)]),
  ...(member === undefined ? [] : [`member/${member}`]),
  ...(ip === undefined ? [] : [ipNode(ip)]),
]
