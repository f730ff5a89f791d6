/** `/livez`, `/readyz` and `/metrics`: for operators, without a token. */
import { Type } from 'typebox'
import { answer, type Store } from '../../core/store.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { parseStoreUrl } from '../config/store-url.ts'
import { PROBE_TIMEOUT_MS } from './bounds.ts'
import type { App, HttpContext } from './endpoints.ts'
import { failurePolicies } from './store-watch.ts'

const Readiness = Type.Object({
  ready: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why not; empty if ready.' }),
  store: Type.Object({
    kind: Type.String({ description: 'memory, sqlite, redis or postgres.' }),
    breaker: Type.Union([Type.Literal('closed'), Type.Literal('open')], {
      description: 'Open while the store does not answer and calls fail at once.',
    }),
    downSince: Type.Optional(Type.String({ format: 'date-time' })),
    onStoreFailure: Type.Object(
      { open: Type.Integer(), closed: Type.Integer() },
      { description: 'How many limits allow, and how many refuse, while it does not answer.' },
    ),
  }),
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
    const store = storeStatus(headgate)
    return reply.code(ready ? 200 : 503).send({ ready, reasons, store, catalog })
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

/** Which store it is, since when it is down, and what follows from that. */
function storeStatus({ settings, storeWatch, catalog }: HttpContext['headgate']) {
  const since = storeWatch.downSince()
  return {
    kind: parseStoreUrl(settings.store).kind,
    breaker: since === undefined ? ('closed' as const) : ('open' as const),
    ...(since !== undefined && { downSince: toTimestamp(since) }),
    onStoreFailure: failurePolicies(catalog.current()),
  }
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
  // The look goes to a server, wherever it is; the other waits for those who write.
  const nothing = () => answer<readonly string[]>([])
  const asked = store
    .transact(nothing, [], 'look')
    .then(() => store.transact(nothing))
    .catch(describeFailure)
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

const describeFailure = (error: unknown): readonly string[] => [
  `store: ${error instanceof Error ? error.message : String(error)}`,
]
