/** Plans and ledger entries, written for the wire. */
import type {
  LedgerEntry,
  Plan,
  PlanDetails,
  PlanEntry,
  SpendingSettings,
} from '../../spending/index.ts'
import { writeMoney } from '../../spending/money-json.ts'
import { toMoment } from './spending-body.ts'

export const toPlanBody = (
  { id, tier, name, limit, active, createdAt, source }: Plan,
  { tiers }: SpendingSettings,
) => ({
  id,
  tier,
  ...(name !== undefined && { name }),
  limit: (limit ?? tiers[tier]).toString(),
  active,
  ...(createdAt !== undefined && { createdAt: toMoment(createdAt) }),
  source,
})

/** Who a plan is for: in the file, and linked while Headgate ran. */
export const toCallers = (entry: PlanEntry | undefined, { links }: PlanDetails) => {
  const isAddress = (link: string): boolean => link.startsWith('0x')
  return {
    addresses: [...(entry?.addresses ?? []), ...links.filter(isAddress)],
    ips: [...(entry?.ips ?? []), ...links.filter((link) => !isAddress(link))],
  }
}

/** Through its text, in which amounts are text too. */
export const toEntryBody = (entry: LedgerEntry): unknown => {
  const body: object = JSON.parse(writeMoney(entry))
  return { ...body, at: toMoment(entry.at), window: toMoment(entry.window) }
}
