/** Links: which members a plan outside the file pays for, made and removed while Headgate runs. */
import { itemOf } from '../../core/names.ts'
import { answer, type Store, type View } from '../../core/store.ts'
import { type Note, toIp, toMemberName } from '../flow/ask.ts'
import {
  memberGuess,
  type PayerView,
  type SpendingAct,
  type SpendingStep,
  unchanged,
} from '../flow/step.ts'
import type { SpendingKeys } from '../keys.ts'
import { readIndex } from '../ledger/pages.ts'
import { spendingMistake } from '../mistake.ts'
import { planEntry, requireOwn } from './administration.ts'
import type { Plan } from './plan.ts'
import { readKeptPlan, readLink, requirePlan, writeLink } from './resolve.ts'

/** A plan and a member, by any of the three. */
export interface LinkAsk extends Note {
  readonly plan: string
  /** Of any kind: `user:42`, an address, an IP. */
  readonly member?: string | undefined
  readonly address?: string | undefined
  readonly ip?: string | undefined
}

export const linkAct = (ask: LinkAsk): SpendingAct<Plan> => {
  const member = toMember(ask)
  const step: SpendingStep<Plan> = (view) => {
    const { keys, plans } = view
    const plan = requireOwn(view, ask.plan)
    const configured = plans.byAddress(member) ?? plans.byIp(member)
    if (configured !== undefined) {
      const rule = 'must not be linked elsewhere than the file says'
      throw spendingMistake('LINK_IN_FILE', member, rule, `plan ${configured.id} of the file`)
    }
    const old = readLink(view, member)
    const other = old === undefined || old.automatic ? undefined : old.plan
    if (other === plan.id) return unchanged(plan)
    if (other !== undefined && !hasRetired(view, other)) {
      const rule = 'must be unlinked from its plan first'
      throw spendingMistake('LINK_TAKEN', member, rule, `plan ${other}`)
    }
    const writes = [
      writeLink(view, member, { plan: plan.id, automatic: false }),
      { key: keys.linked(plan.id, member), value: '' },
      ...(other === undefined ? [] : [{ key: keys.linked(other, member) }]),
    ]
    return planEntry(view, plan, writes, said(member, true), ask)
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
    return planEntry(view, plan, writes, said(member, false), ask)
  }
  return { guess: memberGuess(ask.plan, member), step }
}

const said = (member: string, linked: boolean) => ({
  kind: 'adjust' as const,
  detail: `${member} ${linked ? 'linked' : 'unlinked'}`,
  link: { member, linked },
})

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

function toMember({ member, address, ip }: LinkAsk): string {
  const named = [member, address, ip].filter((name) => name !== undefined)
  const [name] = named
  if (name !== undefined && named.length === 1)
    return ip === undefined ? toMemberName(name) : toIp(ip)
  const rule = 'must name a member, an address or an ip, one of them'
  throw spendingMistake('LINK_INVALID', 'link', rule, String(named.length))
}

/** What the file has of that id is in force. */
function hasRetired(view: PayerView, id: string): boolean {
  return !view.plans.plans.has(id) && readKeptPlan(view, id)?.retiredAt !== undefined
}
