/** `/livez`, `/readyz` and `/metrics`: for operators, without a token. */
import { Type } from 'typebox'
import { answer, type Store } from '../../core/store.ts'
import { PROBE_TIMEOUT_MS } from './bounds.ts'
import type { App, HttpContext } from './endpoints.ts'

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
    description: 'A stale catalog is reported and does not make the server unready.',
    response: { 200: Readiness, 503: Readiness },
  }
  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const stale = headgate.subjects?.isFresh() === false
    const reasons = [
      ...(closing() ? ['shutting down'] : []),
      ...(await probe()),
      ...(headgate.spending?.untrusted() ?? []),
      ...(stale ? ['subjects: no change could be read for a second'] : []),
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

/**
 * Whether a store answers, for `/readyz` here and in a signer: the reasons why not; none if it does.
 * Callers of one moment share a probe, so that asking cannot load the store.
 */
export const createProbe = (store: Store): (() => Promise<readonly string[]>) => {
  let pending: Promise<readonly string[]> | undefined
  return () => {
    pending ??= probeOnce(store).finally(() => {
      pending = undefined
    })
    return pending
  }
}

async function probeOnce(store: Store): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, [`store: silent for ${PROBE_TIMEOUT_MS} ms`])
  })
  const asked = store.transact(() => answer<readonly string[]>([])).catch(describeFailure)
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

const describeFailure = (error: unknown): readonly string[] => [
  `store: ${error instanceof Error ? error.message : String(error)}`,
]
