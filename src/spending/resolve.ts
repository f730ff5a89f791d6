/** Which plan pays for a caller: by address, else by IP, else a BASIC plan that nobody had to create. */
import type { Key, Write } from '../core/store.ts'
import type { Who } from './ask.ts'
import type { Context } from './context.ts'
import { clientOf, implicitPlan, implicitPlanId, isImplicitId } from './implicit-plan.ts'
import { readKeptPlan } from './kept-plan.ts'
import { decodeLink, encodeLink } from './link.ts'
import type { Party } from './party.ts'
import type { Plan } from './plan.ts'

export interface Resolution {
  readonly plan: Plan | undefined
  readonly party: Party
  /** Links that the first admitted charge writes, where BASIC plans are linked to IPs. */
  readonly links: readonly Write[]
}

/**
 * The file comes before links kept in the store, an address before an IP. Configured plans are
 * found in memory; at most four keys are read, however many plans there are.
 */
export const resolve = (context: Context, who: Who): Resolution => {
  const { operation, mode, address } = who
  const plan = findPlan(context, who)
  if (plan === undefined) return { plan, party: { operation, mode }, links: [] }
  const ip = plan.tier === 'BASIC' && who.ip !== undefined ? clientOf(who.ip) : undefined
  return {
    plan,
    party: { plan: plan.id, tier: plan.tier, member: address, ip, operation, mode },
    links: context.settings.linkIp && isImplicit(plan) ? newLinks(context, who, plan) : [],
  }
}

/** By id alone, as grants and settlements name it. */
export const planById = (context: Context, id: string): Plan | undefined =>
  context.plans.plans.get(id) ??
  readKeptPlan(context, id) ??
  (isImplicitId(id) ? implicitPlan(id) : undefined)

function findPlan(context: Context, { address, ip }: Who): Plan | undefined {
  const { plans } = context
  return (
    (address === undefined ? undefined : (plans.byAddress(address) ?? linked(context, address))) ??
    (ip === undefined ? undefined : (plans.byIp(ip) ?? linked(context, ip))) ??
    implicitFor(context, address ?? (ip === undefined ? undefined : clientOf(ip)))
  )
}

/** A link made by itself counts only while such linking is on. */
function linked(context: Context, member: string): Plan | undefined {
  const link = readLink(context, context.keys.link(member))
  if (link === undefined || (link.automatic && !context.settings.linkIp)) return undefined
  return planById(context, link.plan)
}

/** One can be kept under an implicit plan's id: that is how a single user is switched off. */
function implicitFor(context: Context, name: string | undefined): Plan | undefined {
  return name === undefined ? undefined : planById(context, implicitPlanId(name))
}

function newLinks(context: Context, { address, ip }: Who, plan: Plan): readonly Write[] {
  const own = address !== undefined && plan.id === implicitPlanId(address)
  return [...(own ? [] : [address]), ip].flatMap((member) => {
    if (member === undefined) return []
    const key = context.keys.link(member)
    if (readLink(context, key) !== undefined) return []
    return [{ key, value: encodeLink({ plan: plan.id, automatic: true }) }]
  })
}

function readLink({ view }: Context, key: Key) {
  const [value] = view.read(key)
  return value === undefined ? undefined : decodeLink(value)
}

function isImplicit({ id, source }: Plan): boolean {
  return source !== 'file' && isImplicitId(id)
}
