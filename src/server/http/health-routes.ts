/** `/livez`, `/readyz` and `/metrics`: for those who run the server, without a token. */
import { Type } from 'typebox'
import type { App, HttpContext } from './context.ts'
import { createProbe } from './store-probe.ts'

const Readiness = Type.Object({
  ready: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why not; empty if ready.' }),
  catalog: Type.Object({
    stale: Type.Boolean({
      description: 'The newest files hold a mistake; the last good are in force.',
    }),
    problem: Type.Optional(Type.String()),
  }),
})

const describe = (operationId: string, summary: string) => ({
  operationId,
  summary,
  tags: ['health'],
  security: [],
})

export const healthRoutes = (app: App, { headgate, closing }: HttpContext): void => {
  const probe = createProbe(headgate.store)

  const liveSchema = {
    ...describe('livez', 'Whether the process runs'),
    response: { 200: Type.Object({ alive: Type.Boolean() }) },
  }
  app.get('/livez', { schema: liveSchema }, async () => ({ alive: true }))

  const readySchema = {
    ...describe('readyz', 'Whether requests should be sent here'),
    description: 'A stale catalog is told and does not make the server unready.',
    response: { 200: Readiness, 503: Readiness },
  }
  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const unheard = headgate.subjects?.isHeard() === false
    const reasons = [
      ...(closing() ? ['shutting down'] : []),
      ...(await probe()),
      ...(unheard ? ['subjects: no change could be heard for a second'] : []),
    ]
    const { problem } = headgate.catalog.status()
    const catalog = problem === undefined ? { stale: false } : { stale: true, problem }
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, reasons, catalog })
  })

  const metricsSchema = {
    ...describe('metrics', 'What Prometheus reads'),
    response: { 200: { type: 'string', description: 'The text format of Prometheus.' } },
  }
  app.get('/metrics', { schema: metricsSchema }, async (_request, reply) => {
    reply.type(headgate.metrics.contentType)
    return headgate.metrics.text(headgate.catalog, headgate.subjects)
  })
}
