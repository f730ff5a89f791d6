/** `POST /v1/plans…`: plans created, switched, linked and given more while Headgate runs. Scope admin. */
import type { FastifyRequest } from 'fastify'
import { parseAllowance, parseAmount } from '../../spending/index.ts'
import { requestAccess, requireAdmin } from './access.ts'
import type { App, HttpContext } from './context.ts'
import { toPlanBody } from './plan-body.ts'
import {
  CREATE_PLAN_SCHEMA,
  GRANT_SCHEMA,
  LINK_PLAN_SCHEMA,
  SWITCH_PLAN_SCHEMA,
} from './plan-schema.ts'
import { toStandingBody } from './spending-body.ts'
import { readMoment } from './spending-moment.ts'
import { requireDesk } from './spending-off.ts'

export const planAdminRoutes = (app: App, context: HttpContext): void => {
  app.post('/v1/plans', { schema: CREATE_PLAN_SCHEMA }, async (request) => {
    const actor = admin(request, 'creating a plan')
    const { limit, ...ask } = request.body
    const { spending, settings } = requireDesk(context)
    const own = limit === undefined ? undefined : parseAllowance(limit, 'limit')
    return toPlanBody(await spending.createPlan({ ...ask, limit: own, actor }), settings())
  })

  for (const verb of ['activate', 'deactivate'] as const) {
    app.post(`/v1/plans/:id/${verb}`, { schema: SWITCH_PLAN_SCHEMA(verb) }, async (request) => {
      const actor = admin(request, 'switching a plan')
      const { spending, settings } = requireDesk(context)
      const { id } = request.params
      const change = verb === 'activate' ? spending.activatePlan : spending.deactivatePlan
      return toPlanBody(await change(id, { actor }), settings())
    })
  }

  for (const verb of ['link', 'unlink'] as const) {
    app.post(`/v1/plans/:id/${verb}`, { schema: LINK_PLAN_SCHEMA(verb) }, async (request) => {
      const actor = admin(request, 'linking to a plan')
      const { spending, settings } = requireDesk(context)
      const ask = { plan: request.params.id, ...request.body, actor }
      return toPlanBody(await spending[verb](ask), settings())
    })
  }

  app.post('/v1/plans/:id/grant', { schema: GRANT_SCHEMA }, async (request) => {
    const actor = admin(request, 'a grant')
    const { amount, expiresAt, ...ask } = request.body
    const { grantId, plan } = await requireDesk(context).spending.grant({
      ...ask,
      plan: request.params.id,
      amount: parseAmount(amount, 'amount'),
      expiresAt:
        expiresAt === undefined ? undefined : readMoment(expiresAt, 'expiresAt', 'BODY_INVALID'),
      actor,
    })
    return { grantId, plan: { id: plan.id, tier: plan.tier, ...toStandingBody(plan) } }
  })
}

/** Who does it, for the ledger. */
function admin(request: FastifyRequest, act: string): string {
  const access = requestAccess(request)
  requireAdmin(access, act)
  return access.scope
}
