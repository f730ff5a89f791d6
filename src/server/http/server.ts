/** The HTTP face of Headgate: Fastify, with every route, guard and bound in place. It does not listen yet. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Clock } from '../../core/index.ts'
import { quote } from '../../documents/index.ts'
import { systemClock } from '../../stores/clock.ts'
import type { Headgate } from '../headgate.ts'
import type { Settings } from '../settings.ts'
import { createDoor } from './access.ts'
import { batchRoute } from './batch-route.ts'
import * as bounds from './bounds.ts'
import { answerClientError } from './client-error.ts'
import type { App, HttpContext } from './context.ts'
import { decideRoutes } from './decide-routes.ts'
import { gateRoute } from './gate-route.ts'
import { healthRoutes } from './health-routes.ts'
import { guardHost } from './host-guard.ts'
import { limitRoutes } from './limit-routes.ts'
import { httpMistake } from './mistake.ts'
import { openApiRoute, registerOpenApi } from './openapi.ts'
import { collectMethods } from './other-methods.ts'
import { planAdminRoutes } from './plan-admin-routes.ts'
import { planRoutes } from './plan-routes.ts'
import { handleError } from './problem-handler.ts'
import { watchShutdown } from './shutdown.ts'
import { spendingBooksRoutes } from './spending-books-routes.ts'
import { spendingRoutes } from './spending-routes.ts'
import { subjectRoutes } from './subject-routes.ts'
import { ucanRoutes } from './ucan-routes.ts'

export interface HttpOptions {
  /** For sentences that name a time; the system's clock unless told. */
  readonly now?: Clock
  /** Where failures are told; without it, lines of JSON on standard output. */
  readonly logger?: FastifyBaseLogger
}

/**
 * The caller listens and closes: `close()` finishes what was accepted, from its first moment
 * `/readyz` says no, and only afterwards may the store be closed.
 */
export const createHttpServer = (
  headgate: Headgate,
  { now = systemClock, logger }: HttpOptions = {},
): FastifyInstance => {
  const app = open(headgate.settings, logger)
  const closing = watchShutdown(app)
  const context: HttpContext = { headgate, now, closing }
  // Web pages can send text/plain anywhere without asking first.
  app.removeContentTypeParser('text/plain')
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(({ url, method }) => {
    const finding = `${method} ${quote(url)}`
    throw httpMistake({
      code: 'NOT_FOUND',
      thing: 'the path',
      rule: 'must be a known one',
      finding,
    })
  })
  addGuards(app, headgate)
  addMetrics(app, headgate)
  registerOpenApi(app)
  app.register(async (inner: App) => addRoutes(inner, context))
  return app
}

function open({ logLevel, trustProxy }: Settings, logger: FastifyBaseLogger | undefined): App {
  return fastify({
    ...(logger === undefined ? { logger: { level: logLevel } } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: a child for each request costs more than its decision, and few are logged.
    childLoggerFactory: (shared) => shared,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: bounds.MAX_BODY_BYTES,
    routerOptions: { maxParamLength: bounds.MAX_PATH_ID_LENGTH },
    exposeHeadRoutes: false,
    ...bounds.CONNECTION_BOUNDS,
    clientErrorHandler: answerClientError,
    frameworkErrors: handleError,
    forceCloseConnections: 'idle',
    // Whoever reached us on a kept connection is answered, and told to close it.
    return503OnClosing: false,
    ajv: {
      // What a caller sends is taken as it is: "1" is not 1, and an unknown field is a mistake.
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allowUnionTypes: true,
      },
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** Before everything else, for every path. */
function addGuards(app: App, { tokens }: Headgate): void {
  app.addHook('onRequest', ({ url, headers }, _reply, done) => {
    if (url.length > bounds.MAX_URL_LENGTH) {
      const rule = `has at most ${bounds.MAX_URL_LENGTH} characters`
      const finding = String(url.length)
      throw httpMistake({ code: 'URL_TOO_LONG', thing: 'the URL', rule, finding })
    }
    if (tokens().length === 0) guardHost(headers)
    done()
  })
}

function addMetrics(app: App, { metrics }: Headgate): void {
  app.addHook('onResponse', ({ routeOptions }, { statusCode, elapsedTime }, done) => {
    metrics.request(routeOptions.url ?? 'none', statusCode, elapsedTime / 1_000)
    done()
  })
}

function addRoutes(app: App, context: HttpContext): void {
  const refuseOtherMethods = collectMethods(app)
  healthRoutes(app, context)
  openApiRoute(app)
  ucanRoutes(app, context)
  app.register(async (inner: App) => {
    addDoor(inner, context.headgate)
    decideRoutes(inner, context)
    batchRoute(inner, context)
    gateRoute(inner, context)
    limitRoutes(inner, context)
    spendingRoutes(inner, context)
    spendingBooksRoutes(inner, context)
    planRoutes(inner, context)
    planAdminRoutes(inner, context)
    subjectRoutes(inner, context)
  })
  app.register(async () => refuseOtherMethods())
}

/** Everything under /v1 needs a token, where there are any. */
function addDoor(app: App, { tokens }: Headgate): void {
  const enter = createDoor(tokens)
  app.decorateRequest('access', null)
  app.addHook('onRequest', (request, reply, done) => {
    // A decision holds for one request only.
    reply.header('Cache-Control', 'no-store')
    request.access = enter(request.headers.authorization)
    done()
  })
}
