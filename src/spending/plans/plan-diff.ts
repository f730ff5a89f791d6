/** What a new list of plans changes in the old one: plans added, removed and changed, and members that move. */
import { toTimestamp } from '../../lib/moments.ts'
import type { Plan, SpendingSettings } from './plan.ts'
import type { PlanEntry } from './plan-entry.ts'

export interface LinkChange {
  /** An address, or an IP or range. */
  readonly link: string
  readonly planId: string
}

export interface PlanDiff {
  /** Ids, in the order of the new list. */
  readonly added: readonly string[]
  /** Ids, in the order of the old list. */
  readonly removed: readonly string[]
  /** Ids of plans of both lists that differ in more than their members. */
  readonly updated: readonly string[]
  readonly linksAdded: number
  readonly linksRemoved: number
  /** The same, one by one. A member that moves is removed from one plan and added to another. */
  readonly links: { readonly added: readonly LinkChange[]; readonly removed: readonly LinkChange[] }
}

/** Neither the order of plans nor the spelling of addresses is a change. */
export const diffPlans = (before: readonly PlanEntry[], after: readonly PlanEntry[]): PlanDiff => {
  const [old, next] = [byId(before), byId(after)]
  const added = linksBeyond(after, linksOf(before))
  const removed = linksBeyond(before, linksOf(after))
  return {
    added: idsOf(after).filter((id) => !old.has(id)),
    removed: idsOf(before).filter((id) => !next.has(id)),
    updated: after
      .filter(({ plan }) => isUpdated(old.get(plan.id), plan))
      .map(({ plan }) => plan.id),
    linksAdded: added.length,
    linksRemoved: removed.length,
    links: { added, removed },
  }
}

export const changesNothing = ({ added, removed, updated, links }: PlanDiff): boolean =>
  [added, removed, updated, links.added, links.removed].every(({ length }) => length === 0)

const idsOf = (entries: readonly PlanEntry[]) => entries.map(({ plan }) => plan.id)

const byId = (entries: readonly PlanEntry[]): ReadonlyMap<string, Plan> =>
  new Map(entries.map(({ plan }) => [plan.id, plan]))

const linksOf = (entries: readonly PlanEntry[]): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ plan, addresses, ips }) =>
      [...addresses, ...ips].map((link) => [link, plan.id]),
    ),
  )

function linksBeyond(entries: readonly PlanEntry[], known: ReadonlyMap<string, string>) {
  return entries.flatMap(({ plan, addresses, ips }) =>
    [...addresses, ...ips]
      .filter((link) => known.get(link) !== plan.id)
      .map((link): LinkChange => ({ link, planId: plan.id })),
  )
}

/** What of a plan changes, as text; undefined on the side that has none. */
export interface FieldChange {
  /** `tier`, `limit`, `name`, `active`, `createdAt`, or `limit of OPERATION`. */
  readonly field: string
  readonly old: string | undefined
  readonly new: string | undefined
}

/** Limits as they bind: of a plan without one, that of its tier. */
export const planChanges = (
  before: Plan | undefined,
  after: Plan | undefined,
  tiers: SpendingSettings['tiers'],
): readonly FieldChange[] => {
  const [old, next] = [fieldsOf(before, tiers), fieldsOf(after, tiers)]
  return [...new Set([...old.keys(), ...next.keys()])]
    .map((field) => ({ field, old: old.get(field), new: next.get(field) }))
    .filter((change) => change.old !== change.new)
}

function fieldsOf(plan: Plan | undefined, tiers: SpendingSettings['tiers']) {
  if (plan === undefined) return new Map<string, string>()
  const { tier, limit = tiers[tier], name, active, createdAt, categories = [] } = plan
  return new Map([
    ['tier', tier],
    ['limit', limit.toString()],
    ['active', String(active)],
    ...(name === undefined ? [] : [['name', name] as const]),
    ...(createdAt === undefined ? [] : [['createdAt', toTimestamp(createdAt)] as const]),
    ...Array.from(
      categories,
      ([operation, amount]) => [`limit of ${operation}`, `${amount}`] as const,
    ),
  ])
}

function isUpdated(before: Plan | undefined, after: Plan): boolean {
  return before !== undefined && fingerprint(before) !== fingerprint(after)
}

function fingerprint({ tier, name, limit, active, createdAt, categories }: Plan): string {
  const amounts = [...(categories ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = amounts.map(([operation, amount]) => [operation, amount.toString()])
  return JSON.stringify([tier, name, limit?.toString(), active, createdAt, texts])
}
