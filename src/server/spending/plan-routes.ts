/** What `/v1/plans…`, `/v1/spending/holds` and `…/diff` answer: plans shown, compared with a file, and changed. */
import { HeadgateError } from '../../core/errors.ts'
import { toTimestamp } from '../../lib/moments.ts'
import {
  buildPlanCatalog,
  type ConfiguredPlans,
  changesNothing,
  diffPlans,
  type GrantAnswer,
  type Plan,
  type PlanDiff,
  parseAllowance,
  parseAmount,
  parsePlans,
  planChanges,
  type Spending,
  type VoidAnswer,
} from '../../spending/index.ts'
import { MAX_LIST_PAGE } from '../app/bounds.ts'
import type { ApiCall, ApiHandlers } from '../app/endpoints.ts'
import { hasProblem, httpMistake } from '../app/problems.ts'
import {
  readTimestamp,
  toCallers,
  toEntryBody,
  toGrantBody,
  toOpenHoldBody,
  toPlanBody,
  toStandingBody,
  toTexts,
} from './body.ts'
import { requireSpending, type SpendingService } from './open.ts'
import type { PLAN_SCHEMAS } from './plan-schema.ts'

export const planHandlers: ApiHandlers<keyof typeof PLAN_SCHEMAS> = {
  listPlans: async (call, { after = '' }) => {
    const service = requireSpending(call)
    const found = await plansAfter(service, after)
    const page = found.slice(0, MAX_LIST_PAGE)
    const last = found.length > MAX_LIST_PAGE ? page.at(-1) : undefined
    const plans = page.map((plan) => toPlanBody(plan, service.settings()))
    return last === undefined ? { plans } : { plans, next: last.id }
  },

  showPlan: async (call, { id }) => {
    const { spending, settings, plans } = requireSpending(call)
    const details = await spending.details(id)
    const [standing, usage] = [await spending.plan(id), await spending.usage(id)]
    const grants = await spending.grants(id)
    const entry = plans().entries.find(({ plan }) => plan.id === id)
    return {
      ...toPlanBody(details.plan, settings()),
      ...toStandingBody(standing),
      ...toCallers(entry, details),
      grants: grants.map(toGrantBody),
      daily: toTexts(usage.daily),
      monthly: toTexts(usage.monthly),
    }
  },

  planHistory: async (call, { id, after = '0', limit = LIST_PAGE, order }) => {
    const { spending } = requireSpending(call)
    const ask = { after: Number(after), limit: pageSize(limit), order }
    const { entries, next } = await spending.history(id, ask)
    const bodies = entries.map(toEntryBody)
    return next === undefined ? { entries: bodies } : { entries: bodies, next }
  },

  createPlan: async (call, { limit, ...ask }) => {
    const { spending, settings } = requireSpending(call)
    const own = limit === undefined ? undefined : parseAllowance(limit, 'limit')
    const created = await spending.createPlan({ ...ask, limit: own, actor: call.access.scope })
    return toPlanBody(created, settings())
  },

  activatePlan: (call, { id }) =>
    changePlan(call, (spending, actor) => spending.activatePlan(id, { actor })),

  deactivatePlan: (call, { id }) =>
    changePlan(call, (spending, actor) => spending.deactivatePlan(id, { actor })),

  linkPlan: (call, { id: plan, ...caller }) =>
    changePlan(call, (spending, actor) => spending.link({ plan, ...caller, actor })),

  unlinkPlan: (call, { id: plan, ...caller }) =>
    changePlan(call, (spending, actor) => spending.unlink({ plan, ...caller, actor })),

  changePlan: (call, { id: plan, limit, ...ask }) => {
    const own = limit === undefined || limit === 'tier' ? limit : parseAllowance(limit, 'limit')
    return changePlan(call, (spending, actor) =>
      spending.changePlan({ ...ask, plan, limit: own, actor }),
    )
  },

  retirePlan: (call, { id: plan, reason }) =>
    changePlan(call, (spending, actor) => spending.retirePlan({ plan, reason, actor })),

  grantPlan: async (call, { id, amount, expiresAt, ...ask }) => {
    const given = await requireSpending(call).spending.grant({
      ...ask,
      plan: id,
      amount: parseAmount(amount, 'amount'),
      expiresAt:
        expiresAt === undefined ? undefined : readTimestamp(expiresAt, 'expiresAt', 'BODY_INVALID'),
      actor: call.access.scope,
    })
    return {
      ...toGrantAnswer(given),
      ...(given.expiresAt !== undefined && { expiresAt: toTimestamp(given.expiresAt) }),
    }
  },

  listGrants: async (call, { id }) => {
    const grants = await requireSpending(call).spending.grants(id)
    return { grants: grants.map(toGrantBody) }
  },

  voidGrant: async (call, { id: plan, ...ask }) => {
    const { spending } = requireSpending(call)
    const done = await spending.voidGrant({ ...ask, plan, actor: call.access.scope })
    const { voided, pinned } = done
    return { ...toGrantAnswer(done), voided: voided.toString(), pinned: pinned.toString() }
  },

  listHolds: async (call, { limit = LIST_PAGE, ...ask }) => {
    const { spending } = requireSpending(call)
    const { holds, next } = await spending.holds({ ...ask, limit: pageSize(limit) })
    const bodies = holds.map(toOpenHoldBody)
    return next === undefined ? { holds: bodies } : { holds: bodies, next }
  },

  diffPlans: async (call, { text, name = 'plans' }) => {
    const service = requireSpending(call)
    const entries = readPlans(text, name)
    const diff = diffPlans(service.plans().entries, entries)
    return {
      changes: !changesNothing(diff),
      added: [...diff.added],
      removed: [...diff.removed],
      updated: [...diff.updated],
      linksAdded: [...diff.links.added],
      linksRemoved: [...diff.links.removed],
      plans: await changedPlans(service, diff, buildPlanCatalog(entries)),
    }
  },
}

const toGrantAnswer = ({ grantId, replayed, plan }: GrantAnswer | VoidAnswer) => ({
  grantId,
  ...(replayed === true && { replayed }),
  plan: { id: plan.id, tier: plan.tier, ...toStandingBody(plan) },
})

/** Entries of a history, and holds, unless the caller says how many. */
const LIST_PAGE = '100'

const pageSize = (limit: string): number => Math.min(MAX_LIST_PAGE, Math.max(1, Number(limit)))

/** Standings looked up at once. */
const STANDINGS_AT_ONCE = 100

/** What changes in each plan, and what that means for it in the window of now. */
async function changedPlans(service: SpendingService, diff: PlanDiff, next: ConfiguredPlans) {
  const { tiers } = service.settings()
  const before = service.plans()
  const foreseen = service.standingUnder(next)
  const changed = async (id: string) => {
    const [old, after] = [before.plans.get(id), next.plans.get(id)]
    const fields = planChanges(old, after, tiers)
    const { spent, held, remaining } = await (after ? foreseen : service.spending.plan)(id)
    const over = after !== undefined && remaining !== 'unlimited' && remaining < 0n
    return {
      id,
      fields: fields.map(({ field, old = null, new: next = null }) => ({ field, old, new: next })),
      spent: spent.toString(),
      held: held.toString(),
      over: over ? (-remaining).toString() : '0',
    }
  }
  const found: Awaited<ReturnType<typeof changed>>[] = []
  const ids = [...diff.updated, ...diff.added, ...diff.removed]
  for (let from = 0; from < ids.length; from += STANDINGS_AT_ONCE) {
    const some = ids.slice(from, from + STANDINGS_AT_ONCE)
    found.push(...(await Promise.all(some.map(changed))))
  }
  return found
}

/** `actor` is who does it, for the ledger. */
async function changePlan(
  call: ApiCall,
  change: (spending: Spending, actor: string) => Promise<Plan>,
) {
  const { spending, settings } = requireSpending(call)
  return toPlanBody(await change(spending, call.access.scope), settings())
}

/** Of the file and of the store together, in the order of ids; one more than a page, if there is. */
async function plansAfter(service: SpendingService, after: string): Promise<readonly Plan[]> {
  const configured = service.plans().plans
  const others: Plan[] = []
  let kept = await service.spending.keptPlans(after)
  while (kept.length > 0) {
    // The file wins: a plan of the store with the same id is not in force.
    others.push(...kept.filter(({ id }) => !configured.has(id)))
    if (others.length > MAX_LIST_PAGE) break
    kept = await service.spending.keptPlans(kept.at(-1)?.id)
  }
  const filed = [...configured.values()].filter(({ id }) => id > after)
  return [...filed, ...others].sort(byId).slice(0, MAX_LIST_PAGE + 1)
}

const byId = (a: Plan, b: Plan): number => (a.id < b.id ? -1 : 1)

/** A document's own mistakes have no status of their own: here they are those of a body. */
function readPlans(text: string, name: string) {
  try {
    return parsePlans(text, name)
  } catch (error) {
    if (!(error instanceof HeadgateError) || hasProblem(error)) throw error
    const { rule, finding, at } = error
    throw httpMistake({ code: 'BODY_INVALID', thing: name, rule, finding, at })
  }
}
