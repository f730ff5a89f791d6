/** Configured plans in memory: found by address, by IP or by id, at a cost that does not grow with them. */
import { createRangeTable } from '../net/range-table.ts'
import type { Plan, PlanCatalog } from './plan.ts'
import type { PlanEntry } from './plan-entry.ts'

export interface ConfiguredPlans extends PlanCatalog {
  /** In the order of the file. */
  readonly entries: readonly PlanEntry[]
}

/** Entries as a reader gave them: ids and links each once. Holds no spending, so replacing it refunds none. */
export const buildPlanCatalog = (entries: readonly PlanEntry[]): ConfiguredPlans => {
  const plans = new Map<string, Plan>()
  const byAddress = new Map<string, Plan>()
  for (const { plan, addresses } of entries) {
    plans.set(plan.id, plan)
    for (const address of addresses) byAddress.set(address, plan)
  }
  const ranges = createRangeTable(linksOf(entries))
  return {
    entries,
    plans,
    byAddress: (address) => byAddress.get(address),
    byIp: (ip) => ranges.find(ip),
  }
}

export const NO_PLANS: ConfiguredPlans = buildPlanCatalog([])

function* linksOf(entries: readonly PlanEntry[]): Generator<readonly [string, Plan]> {
  for (const { plan, ips } of entries) for (const ip of ips) yield [ip, plan]
}
