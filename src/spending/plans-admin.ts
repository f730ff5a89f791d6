/** Plans outside the file: created, switched on and off, and linked while Headgate runs. */
import type { Write } from '../core/store.ts'
import { type Note, toAddress, toIp, toNote } from './ask.ts'
import { type Change, type Context, unchanged } from './context.ts'
import type { EntryDraft } from './entry.ts'
import { canonicalPlanId, isImplicitId } from './implicit-plan.ts'
import { encodeKeptPlan, readKeptPlan } from './kept-plan.ts'
import { decodeLink, encodeLink } from './link.ts'
import { mistake, quote } from './mistake.ts'
import type { Allowance, Plan, Tier } from './plan.ts'
import { planById } from './resolve.ts'

export interface PlanAsk extends Note {
  readonly id: string
  readonly tier: Tier
  readonly name?: string | undefined
  readonly limit?: Allowance | undefined
}

/** One of the two. */
export interface LinkAsk extends Note {
  readonly plan: string
  readonly address?: string | undefined
  readonly ip?: string | undefined
}

/** Room for a UUID or a name; it is part of keys. */
export const MAX_PLAN_ID = 128

export const createPlan = (context: Context, ask: PlanAsk): Change<Plan> => {
  const { id, tier, name, limit } = ask
  if (!PLAN_ID.test(id) || isImplicitId(id)) {
    const rule = `must be 1 to ${MAX_PLAN_ID} printable ASCII characters without spaces, not starting with basic:`
    throw mistake('PLAN_ID_INVALID', 'plan id', rule, quote(id))
  }
  if (context.plans.plans.has(id)) throw inFile(id)
  if (readKeptPlan(context, id) !== undefined) {
    throw mistake('PLAN_EXISTS', `plan ${id}`, 'must not exist yet', 'one of that id')
  }
  const plan: Plan = {
    id,
    tier,
    ...(name === undefined ? {} : { name }),
    ...(limit === undefined ? {} : { limit }),
    active: true,
    createdAt: context.view.now,
    source: 'store',
  }
  return changed(context, plan, [kept(context, plan)], `plan created, ${tier}`, ask)
}

/** A plan that is off refuses with PLAN_INACTIVE. An implicit plan can be switched off by its id. */
export const switchPlan = (
  context: Context,
  id: string,
  active: boolean,
  note: Note,
): Change<Plan> => {
  if (context.plans.plans.has(id)) throw inFile(id)
  const plan: Plan = { ...requirePlan(context, id), active, source: 'store' }
  const detail = active ? 'plan activated' : 'plan deactivated'
  return changed(context, plan, [kept(context, plan)], detail, note)
}

export const link = (context: Context, ask: LinkAsk): Change<Plan> => {
  const { view, keys, plans } = context
  const plan = requirePlan(context, ask.plan)
  const member = toMember(ask)
  if (plans.plans.has(plan.id)) throw inFile(plan.id)
  const held = plans.byAddress(member) ?? plans.byIp(member)
  if (held !== undefined) {
    const rule = 'must not be linked elsewhere than the file says'
    throw mistake('LINK_IN_FILE', member, rule, `plan ${held.id} of the file`)
  }
  const key = keys.link(member)
  const [value] = view.read(key)
  const old = value === undefined ? undefined : decodeLink(value)
  if (old !== undefined && !old.automatic) {
    if (old.plan === plan.id) return unchanged(plan)
    const rule = 'must be unlinked from its plan first'
    throw mistake('LINK_TAKEN', member, rule, `plan ${old.plan}`)
  }
  const made = encodeLink({ plan: plan.id, automatic: false })
  const write = { key, value: made, index: keys.links(plan.id) }
  return changed(context, plan, [write], `${member} linked`, ask)
}

export const unlink = (context: Context, ask: LinkAsk): Change<Plan> => {
  const { view, keys } = context
  const plan = requirePlan(context, ask.plan)
  const member = toMember(ask)
  const key = keys.link(member)
  const [value] = view.read(key)
  const linked = value === undefined ? undefined : decodeLink(value).plan
  if (linked !== plan.id) {
    const finding = linked === undefined ? 'no link' : `plan ${linked}`
    throw mistake('LINK_NOT_FOUND', member, `must be linked to plan ${plan.id}`, finding)
  }
  return changed(context, plan, [{ key }], `${member} unlinked`, ask)
}

export const requirePlan = (context: Context, id: string): Plan => {
  const canonical = canonicalPlanId(id)
  const plan = canonical === undefined ? undefined : planById(context, canonical)
  if (plan !== undefined) return plan
  const rule = 'must be in the file, have been created, or be basic: and an address or IP'
  throw mistake('PLAN_NOT_FOUND', `plan ${quote(id)}`, rule, 'none')
}

const PLAN_ID = /^[\x21-\x7e]{1,128}$/

function toMember({ address, ip }: LinkAsk): string {
  if (address !== undefined && ip === undefined) return toAddress(address)
  if (ip !== undefined && address === undefined) return toIp(ip)
  const finding = address === undefined ? 'neither' : 'both'
  throw mistake('LINK_INVALID', 'link', 'must name an address or an ip, one of the two', finding)
}

function inFile(id: string) {
  const rule = 'must be changed in the file that configures it'
  return mistake('PLAN_IN_FILE', `plan ${id}`, rule, 'a change by another way')
}

function kept({ keys }: Context, plan: Plan): Write {
  return { key: keys.plan(plan.id), value: encodeKeptPlan(plan), index: keys.plans }
}

function changed(
  { calendar }: Context,
  plan: Plan,
  writes: readonly Write[],
  detail: string,
  note: Note,
): Change<Plan> {
  const entry: EntryDraft = {
    kind: 'adjust',
    window: calendar.window.startsAt,
    party: { plan: plan.id, tier: plan.tier, operation: 'Plan', mode: 'TRANSACTION' },
    moves: [],
    note: toNote(note),
    detail,
  }
  return { result: plan, writes, entries: [entry] }
}
