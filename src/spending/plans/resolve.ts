/**
 * Which plan pays for a caller: the one of its address, else of its IP, else a BASIC plan of its own.
 *
 * A plan is configured in the file, kept in the store, or implicit: a BASIC plan exists for every
 * caller without being created. A link says which plan pays for a member that the file does not name.
 */
import { quote } from '../../core/errors.ts'
import type { Write } from '../../core/store.ts'
import { canonicalAddress, parseIpAddress } from '../../net/addresses.ts'
import { coveringPrefix } from '../../net/prefixes.ts'
import { createRangeTable } from '../../net/range-table.ts'
import { type CanonicalPurpose, canonicalName } from '../flow/ask.ts'
import { budgetsReadBy, type Party, planBudget } from '../flow/balances.ts'
import type { PayerView } from '../flow/step.ts'
import { IMPLICIT_PREFIX, implicitPlanId, isImplicitId } from '../keys.ts'
import { spendingMistake } from '../mistake.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import { type Plan, type PlanCatalog, TIERS } from './plan.ts'
import type { PlanEntry } from './plan-entry.ts'

/** What of a payer's view says which plan pays. */
type PlanView = Pick<PayerView, 'read' | 'keys' | 'plans' | 'settings'> &
  Partial<Pick<PayerView, 'calendar'>>

export interface Resolution {
  readonly plan: Plan | undefined
  readonly party: Party
  /** Links that the first admitted charge writes, where BASIC plans are linked to IPs. */
  readonly newLinks: readonly Write[]
}

/**
 * The file comes before links kept in the store, an address before an IP. Configured plans are
 * found in memory; at most four keys are read, however many plans there are.
 */
export const resolvePlan = (view: PlanView, purpose: CanonicalPurpose): Resolution => {
  const { operation, mode, family, address } = purpose
  const matter = family === undefined ? { operation, mode } : { operation, mode, family }
  const links = new Map<string, Link | undefined>()
  const plan = findPlan(view, purpose, links)
  if (plan === undefined) return { plan, party: matter, newLinks: [] }
  const ip = plan.tier === 'BASIC' && purpose.ip !== undefined ? clientOf(purpose.ip) : undefined
  return {
    plan,
    party: { plan: plan.id, tier: plan.tier, member: address, ip, ...matter },
    newLinks: view.settings.linkIp && isImplicit(plan) ? linksTo(view, plan, purpose, links) : [],
  }
}

/** By id alone, as grants and settlements name it. */
export const planById = (view: PlanView, id: string): Plan | undefined =>
  view.plans.plans.get(id) ??
  readKeptPlan(view, id) ??
  (isImplicitId(id) ? implicitPlan(id) : undefined)

export const requirePlan = (view: PlanView, id: string): Plan => {
  const canonical = canonicalPlanId(id)
  const plan = canonical === undefined ? undefined : planById(view, canonical)
  if (plan !== undefined) return plan
  const rule = 'must be in the file, have been created, or be basic: and a member'
  throw spendingMistake('PLAN_NOT_FOUND', `plan ${quote(id)}`, rule, 'none')
}

/** A plan that is gone by now still counts as it did: what it spent does not go with it. */
export const payingPlan = (view: PayerView, { plan: id, tier }: Party): Plan | undefined => {
  if (id === undefined || tier === undefined) return undefined
  return planById(view, id) ?? { id, tier, active: false, source: 'file' }
}

/** The links that were read on the way, by member: each is read once. */
type LinksRead = Map<string, Link | undefined>

function findPlan(view: PlanView, purpose: CanonicalPurpose, links: LinksRead): Plan | undefined {
  const { plans } = view
  const { address, ip } = purpose
  const byAddress =
    address === undefined
      ? undefined
      : (plans.byAddress(address) ?? linkedPlan(view, address, links, purpose))
  if (byAddress !== undefined) return byAddress
  const byIp =
    ip === undefined ? undefined : (plans.byIp(ip) ?? linkedPlan(view, ip, links, purpose))
  return byIp ?? implicitFor(view, address ?? (ip === undefined ? undefined : clientOf(ip)))
}

/** An automatic link counts only while `linkIp` is on. */
function linkedPlan(
  view: PlanView,
  member: string,
  links: LinksRead,
  purpose: CanonicalPurpose,
): Plan | undefined {
  const link = readLink(view, member)
  links.set(member, link)
  if (link === undefined || (link.automatic && !view.settings.linkIp)) return undefined
  const plan = planById(view, link.plan)
  if (plan === undefined) readAhead(view, link.plan, purpose)
  return plan?.retiredAt === undefined ? plan : undefined
}

/**
 * A plan that is not there may only not have been seen yet: then all that its charges read comes with it,
 * where else each link of the chain would cost a round trip.
 */
function readAhead(view: PlanView, plan: string, purpose: CanonicalPurpose): void {
  const { read, keys, calendar } = view
  if (calendar === undefined) return
  const { address: member, operation, mode } = purpose
  const budgets = TIERS.flatMap((tier) =>
    budgetsReadBy({ party: { plan, tier, member, operation, mode } }),
  )
  const { startsAt } = calendar.window
  const before = calendar.previous?.startsAt ?? startsAt
  read(
    ...[...new Set(budgets)].map((budget) => keys.budget(startsAt, budget)),
    ...[keys.budget(before, planBudget(plan)), keys.terms(before, plan)],
    ...[keys.terms(startsAt, plan), keys.funds(plan), keys.trail(plan)],
  )
}

/** A plan can be kept under an implicit plan's id: that is how a single user is switched off. */
function implicitFor(view: PlanView, client: string | undefined): Plan | undefined {
  return client === undefined ? undefined : planById(view, implicitPlanId(client))
}

/** An automatic link from each member without one. An address needs none to the plan named after it. */
function linksTo(
  view: PlanView,
  plan: Plan,
  { address, ip }: CanonicalPurpose,
  links: LinksRead,
): readonly Write[] {
  const own = address !== undefined && plan.id === implicitPlanId(address)
  return [...(own ? [] : [address]), ip].flatMap((member) => {
    if (member === undefined) return []
    const link = links.has(member) ? links.get(member) : readLink(view, member)
    return link === undefined ? [writeLink(view, member, { plan: plan.id, automatic: true })] : []
  })
}

export interface Link {
  readonly plan: string
  /** Made by the first charge, not by an operator. */
  readonly automatic: boolean
}

export const readLink = ({ read, keys }: PlanView, member: string): Link | undefined => {
  const [value] = read(keys.link(member))
  if (value === undefined) return undefined
  return { plan: value.slice(value.indexOf(' ') + 1), automatic: !isMadeLink(value) }
}

export const writeLink = (
  { keys }: PlanView,
  member: string,
  { plan, automatic }: Link,
): Write => ({ key: keys.link(member), value: automatic ? `automatic ${plan}` : madeLink(plan) })

/** As a link of an operator is kept. */
export const madeLink = (plan: string): string => `${MADE}${plan}`

export const isMadeLink = (value: string): boolean => value.startsWith(MADE)

const MADE = 'made '

export const readKeptPlan = ({ read, keys }: PlanView, id: string): Plan | undefined => {
  const [value] = read(keys.plan(id))
  return value === undefined ? undefined : decodeKeptPlan(value)
}

export const decodeKeptPlan = (value: string): Plan => readMoney<Plan>(value)

/** Plans kept here have no limits of their own by category. */
export const writeKeptPlan = ({ keys }: PlanView, plan: Plan): Write => ({
  key: keys.plan(plan.id),
  value: writeMoney(plan),
})

/** As people write it, to as it is kept: however an address is spelt, it is one plan. */
export const canonicalPlanId = (id: string): string | undefined => {
  if (!isImplicitId(id)) return id
  const name = id.slice(IMPLICIT_PREFIX.length)
  const client = canonicalName(name) ?? clientOf(name.replace(/\/64$/, ''))
  return client === undefined ? undefined : implicitPlanId(client)
}

const implicitPlan = (id: string): Plan => ({ id, tier: 'BASIC', active: true, source: 'implicit' })

/** Switched off or on, it is kept in the store and still implicit. */
function isImplicit({ id, source }: Plan): boolean {
  return source !== 'file' && isImplicitId(id)
}

/** What counts as one client: an IPv4 address, or the /64 that one network gets. Undefined for no IP. */
function clientOf(ip: string): string | undefined {
  const canonical = canonicalAddress(ip)
  const address = canonical?.includes(':') === true ? parseIpAddress(canonical) : undefined
  return address === undefined ? canonical : coveringPrefix(address)
}

/** Plans of the file: found by address, by IP or by id, at a cost that does not grow with them. */
export interface ConfiguredPlans extends PlanCatalog {
  /** In the order of the file. */
  readonly entries: readonly PlanEntry[]
}

/** Entries as a reader gave them: ids and members each once. Holds no spending, so replacing it refunds none. */
export const buildPlanCatalog = (entries: readonly PlanEntry[]): ConfiguredPlans => {
  const plans = new Map<string, Plan>()
  const byAddress = new Map<string, Plan>()
  for (const { plan, addresses } of entries) {
    plans.set(plan.id, plan)
    for (const address of addresses) byAddress.set(address, plan)
  }
  const ranges = createRangeTable(ipsOf(entries))
  return {
    entries,
    plans,
    byAddress: (address) => byAddress.get(address),
    byIp: (ip) => ranges.find(ip),
  }
}

export const NO_PLANS: ConfiguredPlans = buildPlanCatalog([])

function* ipsOf(entries: readonly PlanEntry[]): Generator<readonly [string, Plan]> {
  for (const { plan, ips } of entries) for (const ip of ips) yield [ip, plan]
}
