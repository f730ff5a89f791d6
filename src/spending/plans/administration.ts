/** Plans outside the file: created, switched on and off, and linked to members while Headgate runs. */
import { quote } from '../../core/errors.ts'
import { itemOf } from '../../core/names.ts'
import { answer, type Store, type View, type Write } from '../../core/store.ts'
import { type Note, toIp, toMemberName, toNote } from '../flow/ask.ts'
import {
  type LedgerChange,
  memberGuess,
  type PayerView,
  type SpendingAct,
  type SpendingStep,
  unchanged,
} from '../flow/step.ts'
import { isImplicitId, type SpendingKeys } from '../keys.ts'
import { readIndex } from '../ledger/pages.ts'
import { spendingMistake } from '../mistake.ts'
import { type Allowance, MAX_PLAN_ID_LENGTH, type Plan, type Tier } from './plan.ts'
import { readKeptPlan, readLink, requirePlan, writeKeptPlan, writeLink } from './resolve.ts'

export interface PlanAsk extends Note {
  readonly id: string
  readonly tier: Tier
  readonly name?: string | undefined
  readonly limit?: Allowance | undefined
}

/** A plan and a member, by any of the three. */
export interface LinkAsk extends Note {
  readonly plan: string
  /** Of any kind: `user:42`, an address, an IP. */
  readonly member?: string | undefined
  readonly address?: string | undefined
  readonly ip?: string | undefined
}

export const createPlan =
  (ask: PlanAsk): SpendingStep<Plan> =>
  (view) => {
    const { id, tier, name, limit } = ask
    if (!PLAN_ID.test(id) || id.length > MAX_PLAN_ID_LENGTH || isImplicitId(id)) {
      const rule = `must be 1 to ${MAX_PLAN_ID_LENGTH} printable ASCII characters without spaces, not starting with basic:`
      throw spendingMistake('PLAN_ID_INVALID', 'plan id', rule, quote(id))
    }
    if (view.plans.plans.has(id)) throw inFile(id)
    if (readKeptPlan(view, id) !== undefined) {
      throw spendingMistake('PLAN_EXISTS', `plan ${id}`, 'must not exist yet', 'one of that id')
    }
    const plan: Plan = {
      id,
      tier,
      ...(name === undefined ? {} : { name }),
      ...(limit === undefined ? {} : { limit }),
      active: true,
      createdAt: view.now,
      source: 'store',
    }
    return planChange(view, plan, [writeKeptPlan(view, plan)], `plan created, ${tier}`, ask)
  }

/** A plan that is off refuses with PLAN_INACTIVE. An implicit plan can be switched off by its id. */
export const switchPlan =
  (id: string, active: boolean, note: Note): SpendingStep<Plan> =>
  (view) => {
    if (view.plans.plans.has(id)) throw inFile(id)
    const plan: Plan = { ...requirePlan(view, id), active, source: 'store' }
    const detail = active ? 'plan activated' : 'plan deactivated'
    return planChange(view, plan, [writeKeptPlan(view, plan)], detail, note)
  }

export const linkAct = (ask: LinkAsk): SpendingAct<Plan> => {
  const member = toMember(ask)
  const step: SpendingStep<Plan> = (view) => {
    const { keys, plans } = view
    const plan = requirePlan(view, ask.plan)
    if (plans.plans.has(plan.id)) throw inFile(plan.id)
    const configured = plans.byAddress(member) ?? plans.byIp(member)
    if (configured !== undefined) {
      const rule = 'must not be linked elsewhere than the file says'
      throw spendingMistake('LINK_IN_FILE', member, rule, `plan ${configured.id} of the file`)
    }
    const old = readLink(view, member)
    if (old !== undefined && !old.automatic) {
      if (old.plan === plan.id) return unchanged(plan)
      const rule = 'must be unlinked from its plan first'
      throw spendingMistake('LINK_TAKEN', member, rule, `plan ${old.plan}`)
    }
    const writes = [
      writeLink(view, member, { plan: plan.id, automatic: false }),
      { key: keys.linked(plan.id, member), value: '' },
    ]
    return planChange(view, plan, writes, `${member} linked`, ask)
  }
  return { guess: memberGuess(ask.plan, member), step }
}

export const unlinkAct = (ask: LinkAsk): SpendingAct<Plan> => {
  const member = toMember(ask)
  const step: SpendingStep<Plan> = (view) => {
    const { keys } = view
    const plan = requirePlan(view, ask.plan)
    const linked = readLink(view, member)?.plan
    if (linked !== plan.id) {
      const finding = linked === undefined ? 'no link' : `plan ${linked}`
      throw spendingMistake('LINK_NOT_FOUND', member, `must be linked to plan ${plan.id}`, finding)
    }
    const writes = [{ key: keys.link(member) }, { key: keys.linked(plan.id, member) }]
    return planChange(view, plan, writes, `${member} unlinked`, ask)
  }
  return { guess: memberGuess(ask.plan, member), step }
}

export interface PlanDetails {
  readonly plan: Plan
  /** Addresses and IPs, in the order of their text. Those of the file are in the file. */
  readonly links: readonly string[]
}

/** One plan, from the file or the store, and the members that were linked to it while Headgate ran. */
export const planDetails = async (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
  id: string,
): Promise<PlanDetails> => {
  const plan = await store.transact((view) => answer(requirePlan(open(view), id)))
  const links: string[] = []
  for await (const { key } of readIndex(store, keys.links(plan.id))) links.push(itemOf(key))
  return { plan, links }
}

const PLAN_ID = /^[\x21-\x7e]+$/

function toMember({ member, address, ip }: LinkAsk): string {
  const named = [member, address, ip].filter((name) => name !== undefined)
  const [name] = named
  if (name !== undefined && named.length === 1)
    return ip === undefined ? toMemberName(name) : toIp(ip)
  const rule = 'must name a member, an address or an ip, one of them'
  throw spendingMistake('LINK_INVALID', 'link', rule, String(named.length))
}

function inFile(id: string) {
  const rule = 'must be changed in the file that configures it'
  return spendingMistake('PLAN_IN_FILE', `plan ${id}`, rule, 'a change by another way')
}

function planChange(
  { calendar }: PayerView,
  plan: Plan,
  writes: readonly Write[],
  detail: string,
  note: Note,
): LedgerChange<Plan> {
  const { id, tier } = plan
  return {
    result: plan,
    writes,
    entries: [
      {
        kind: 'adjust',
        window: calendar.window.startsAt,
        party: { plan: id, tier, operation: 'Plan', mode: 'TRANSACTION' },
        moves: [],
        note: toNote(note),
        detail,
      },
    ],
  }
}
