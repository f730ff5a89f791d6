/** Plans outside the file: created, changed, switched on and off, and retired while Headgate runs. */
import { quote } from '../../core/errors.ts'
import type { Write } from '../../core/store.ts'
import { type Note, noteText, toNote } from '../flow/ask.ts'
import { type LedgerChange, type PayerView, type SpendingStep, unchanged } from '../flow/step.ts'
import { isImplicitId } from '../keys.ts'
import type { EntryDraft } from '../ledger/entry.ts'
import { spendingMistake } from '../mistake.ts'
import { type Allowance, MAX_PLAN_ID_LENGTH, type Plan, type Tier } from './plan.ts'
import { readKeptPlan, requirePlan, writeKeptPlan } from './resolve.ts'

export interface PlanAsk extends Note {
  readonly id: string
  readonly tier: Tier
  readonly name?: string | undefined
  readonly limit?: Allowance | undefined
}

/** What is not named stays as it is. */
export interface PlanChangeAsk extends Note {
  readonly plan: string
  readonly tier?: Tier | undefined
  /** `tier`: none of its own any more. */
  readonly limit?: Allowance | 'tier' | undefined
  /** Empty: none any more. */
  readonly name?: string | undefined
  readonly reason?: string | undefined
}

export interface RetireAsk extends Note {
  readonly plan: string
  readonly reason?: string | undefined
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
    const known = readKeptPlan(view, id)
    if (known?.retiredAt !== undefined) throw retired(id)
    if (known !== undefined) {
      throw spendingMistake('PLAN_EXISTS', `plan ${id}`, 'must not exist yet', 'one of that id')
    }
    const plan: Plan = {
      id,
      tier,
      ...(name === undefined ? {} : { name: noteText('name', name) }),
      ...(limit === undefined ? {} : { limit }),
      active: true,
      createdAt: view.now,
      source: 'store',
    }
    return keepPlan(view, plan, { kind: 'adjust', detail: `plan created, ${tier}` }, ask)
  }

/**
 * In force at once. It refunds nothing, and takes nothing from open holds or grants: a limit below what is
 * spent and held only refuses what comes next. A change to what the plan is already is no change.
 */
export const changePlan =
  (ask: PlanChangeAsk): SpendingStep<Plan> =>
  (view) => {
    const before = requireOwn(view, ask.plan)
    const { tier = before.tier, limit = before.limit, name = before.name } = ask
    if (ask.tier === undefined && ask.limit === undefined && ask.name === undefined) {
      const rule = 'must name a tier, a limit or a name'
      throw spendingMistake('PLAN_CHANGE_EMPTY', `change of plan ${before.id}`, rule, 'none')
    }
    if (isImplicitId(before.id) && tier !== before.tier) throw implicit(before.id, 'keep its tier')
    const { tier: _, limit: __, name: ___, source: ____, ...rest } = before
    const after: Plan = {
      ...rest,
      tier,
      ...(name === undefined || name === '' ? {} : { name: noteText('name', name) }),
      ...(limit === undefined || limit === 'tier' ? {} : { limit }),
      source: 'store',
    }
    const changes = changesBetween(before, after)
    if (changes.length === 0) return unchanged(before)
    return keepPlan(view, after, { kind: 'change', detail: changes.join(', ') }, ask)
  }

/**
 * It pays for nobody from now on: its members have the plans that they would have without it. Open holds
 * of it settle; history, grants and balances stay.
 */
export const retirePlan =
  (ask: RetireAsk): SpendingStep<Plan> =>
  (view) => {
    const { plans, now } = view
    const plan = requirePlan(view, ask.plan)
    if (plans.plans.has(plan.id)) throw inFile(plan.id)
    if (isImplicitId(plan.id)) throw implicit(plan.id, 'be deactivated instead')
    if (plan.retiredAt !== undefined) return unchanged(plan)
    const after: Plan = { ...plan, active: false, retiredAt: now }
    return keepPlan(view, after, { kind: 'retire', detail: 'plan retired' }, ask)
  }

/** A plan that is off refuses with PLAN_INACTIVE. An implicit plan can be switched off by its id. */
export const switchPlan =
  (id: string, active: boolean, note: Note): SpendingStep<Plan> =>
  (view) => {
    const plan: Plan = { ...requireOwn(view, id), active, source: 'store' }
    const detail = active ? 'plan activated' : 'plan deactivated'
    return keepPlan(view, plan, { kind: 'adjust', detail }, note)
  }

const PLAN_ID = /^[\x21-\x7e]+$/

function inFile(id: string) {
  const rule = 'must be changed in the file that configures it'
  return spendingMistake('PLAN_IN_FILE', `plan ${id}`, rule, 'a change by another way')
}

export const retired = (id: string) => {
  const rule = 'must not be retired; a retired plan stays so, and its id is not given again'
  return spendingMistake('PLAN_RETIRED', `plan ${id}`, rule, 'a retired plan')
}

const implicit = (id: string, rule: string) =>
  spendingMistake('PLAN_IMPLICIT', `plan ${id}`, `must ${rule}`, 'a plan that nobody created')

/** One that can be changed here: created here, or implicit, and not retired. */
export const requireOwn = (view: PayerView, id: string): Plan => {
  const plan = requirePlan(view, id)
  if (view.plans.plans.has(plan.id)) throw inFile(plan.id)
  if (plan.retiredAt !== undefined) throw retired(plan.id)
  return plan
}

function changesBetween(before: Plan, after: Plan): readonly string[] {
  const shown = ({ tier, limit, name }: Plan) => ({
    tier,
    limit: limit === undefined ? 'that of its tier' : String(limit),
    name: name ?? 'none',
  })
  const [old, now] = [shown(before), shown(after)]
  const fields = ['tier', 'limit', 'name'] as const
  return fields.flatMap((field) =>
    old[field] === now[field] ? [] : [`${field} ${old[field]} → ${now[field]}`],
  )
}

type Said = Required<Pick<EntryDraft, 'kind' | 'detail'>> & Pick<EntryDraft, 'kept' | 'link'>

/** The plan as it is from now on, and the entry that says so. */
function keepPlan(
  view: PayerView,
  plan: Plan,
  { kind, detail }: Said,
  note: Note & { readonly reason?: string | undefined },
): LedgerChange<Plan> {
  const why = noteText('reason', note.reason)
  const said = { kind, kept: plan, detail: why === undefined ? detail : `${detail}: ${why}` }
  return planEntry(view, plan, [writeKeptPlan(view, plan)], said, note)
}

export const planEntry = (
  { calendar }: PayerView,
  plan: Plan,
  writes: readonly Write[],
  said: Said,
  note: Note,
): LedgerChange<Plan> => {
  const { id, tier } = plan
  return {
    result: plan,
    writes,
    entries: [
      {
        window: calendar.window.startsAt,
        party: { plan: id, tier, operation: 'Plan', mode: 'TRANSACTION' },
        moves: [],
        note: toNote(note),
        ...said,
      },
    ],
  }
}
