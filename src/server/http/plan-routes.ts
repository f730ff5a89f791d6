/** `/v1/plans`: which plans there are, how they stand, and what a file would change in them. */
import { HeadgateError } from '../../core/index.ts'
import { changesNothing, diffPlans, type Plan, parsePlans } from '../../spending/index.ts'
import { hasProblem } from '../problems.ts'
import type { SpendingDesk } from '../spending/spending-desk.ts'
import { MAX_PAGE, MAX_PLANS_BYTES } from './bounds.ts'
import type { App, HttpContext } from './context.ts'
import { httpMistake } from './mistake.ts'
import { toCallers, toEntryBody, toPlanBody } from './plan-body.ts'
import { DIFF_SCHEMA, HISTORY_SCHEMA, LIST_PLANS_SCHEMA, SHOW_PLAN_SCHEMA } from './plan-schema.ts'
import { toStandingBody } from './spending-body.ts'
import { toTexts } from './spending-books-routes.ts'
import { requireDesk } from './spending-off.ts'

export const planRoutes = (app: App, context: HttpContext): void => {
  app.get('/v1/plans', { schema: LIST_PLANS_SCHEMA }, async ({ query: { after = '' } }) => {
    const desk = requireDesk(context)
    const found = await pageOf(desk, after)
    const page = found.slice(0, MAX_PAGE)
    const last = found.length > MAX_PAGE ? page.at(-1) : undefined
    const plans = page.map((plan) => toPlanBody(plan, desk.settings()))
    return last === undefined ? { plans } : { plans, next: last.id }
  })

  app.get('/v1/plans/:id', { schema: SHOW_PLAN_SCHEMA }, async ({ params: { id } }) => {
    const { spending, settings, plans } = requireDesk(context)
    const details = await spending.details(id)
    const [standing, usage] = [await spending.plan(id), await spending.usage(id)]
    const entry = plans().entries.find(({ plan }) => plan.id === id)
    return {
      ...toPlanBody(details.plan, settings()),
      ...toStandingBody(standing),
      ...toCallers(entry, details),
      daily: toTexts(usage.daily),
      monthly: toTexts(usage.monthly),
    }
  })

  app.get('/v1/plans/:id/history', { schema: HISTORY_SCHEMA }, async ({ params, query }) => {
    const { spending } = requireDesk(context)
    const limit = Math.min(MAX_PAGE, Math.max(1, Number(query.limit ?? HISTORY_PAGE)))
    const { entries, next } = await spending.history(params.id, Number(query.after ?? 0), limit)
    const bodies = entries.map(toEntryBody)
    return next === undefined ? { entries: bodies } : { entries: bodies, next }
  })

  app.post(
    '/v1/spending/diff',
    { schema: DIFF_SCHEMA, bodyLimit: MAX_PLANS_BYTES },
    async ({ body: { text, name = 'plans' } }) => {
      const desk = requireDesk(context)
      const diff = diffPlans(desk.plans().entries, readPlans(text, name))
      return {
        changes: !changesNothing(diff),
        added: [...diff.added],
        removed: [...diff.removed],
        updated: [...diff.updated],
        linksAdded: [...diff.links.added],
        linksRemoved: [...diff.links.removed],
      }
    },
  )
}

/** Entries of a history unless told. */
const HISTORY_PAGE = 100

/** Of the file and of the store together, in the order of ids; one more than a page, if there is. */
async function pageOf(desk: SpendingDesk, after: string): Promise<readonly Plan[]> {
  const configured = desk.plans().plans
  const kept = await desk.spending.keptPlans(after)
  // The file wins: a plan of the store with the same id is asleep.
  const awake = kept.filter(({ id }) => !configured.has(id))
  const filed = [...configured.values()].filter(({ id }) => id > after)
  return [...filed, ...awake].sort(byId).slice(0, MAX_PAGE + 1)
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
