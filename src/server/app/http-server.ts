/** The HTTP face of Headgate: Fastify, with every route, guard and bound in place. It does not listen yet. */

import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifySchema,
  fastify,
  LogController,
} from 'fastify'
import { assert, HeadgateError, quote } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Settings } from '../config/settings.ts'
import { GATE_SCHEMA } from '../requests/gate-schema.ts'
import { limitHandlers } from '../requests/limit-routes.ts'
import { gateRoute, requestHandlers } from '../requests/routes.ts'
import { REQUEST_SCHEMAS } from '../requests/schema.ts'
import { planHandlers } from '../spending/plan-routes.ts'
import { PLAN_SCHEMAS } from '../spending/plan-schema.ts'
import { spendingHandlers } from '../spending/routes.ts'
import { SPENDING_SCHEMAS } from '../spending/schema.ts'
import { subjectHandlers } from '../subjects/answers.ts'
import { ucanRoutes } from '../subjects/routes.ts'
import { SUBJECT_SCHEMAS } from '../subjects/schema.ts'
import { createDoor, guardHost, requestAccess, requireAdmin, watchShutdown } from './access.ts'
import * as bounds from './bounds.ts'
import {
  type ApiCall,
  type ApiHandlers,
  type ApiInput,
  type ApiOperation,
  type ApiSchemas,
  type App,
  ENDPOINTS,
  type HttpContext,
} from './endpoints.ts'
import type { Headgate } from './headgate.ts'
import { healthRoutes } from './health.ts'
import { createJournal } from './journal.ts'
import { addOverload } from './overload.ts'
import { answerClientError, handleError, problemOf, sendProblem } from './problem-handler.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { hasProblem, httpMistake, type ProblemCode, toProblem } from './problems.ts'
import { VERSION } from './version.ts'

export interface HttpOptions {
  /** For sentences that name a time; the system's clock unless given. */
  readonly now?: Clock
  /** For failures; without it, lines of JSON on standard output. */
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
  app.decorate('journal', createJournal(headgate.settings.log, performance.now.bind(performance)))
  const closing = watchShutdown(app)
  const context: HttpContext = { headgate, now, closing }
  // Web pages can send text/plain anywhere without asking first.
  app.removeContentTypeParser('text/plain')
  readNumbersExactly(app)
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
  const { settings, metrics } = headgate
  addOverload(app, { settings: settings.overload, onShed: metrics.shed })
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
    bodyLimit: bounds.MAX_REQUEST_BYTES,
    routerOptions: { maxParamLength: bounds.MAX_PATH_ID_LENGTH },
    exposeHeadRoutes: false,
    ...bounds.CONNECTION_BOUNDS,
    clientErrorHandler: answerClientError,
    frameworkErrors: handleError,
    forceCloseConnections: 'idle',
    // A request on a kept connection is answered, and the connection closed.
    return503OnClosing: false,
    ajv: {
      // What a caller sends is taken as it is: "1" is not 1, and an unknown field is a mistake.
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allowUnionTypes: true,
        // A mistake brings the schema of its place along, to suggest a field from.
        verbose: true,
      },
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/**
 * JSON.parse rounds: 9007199254740990.9 would be a whole number, and money. Such a number is a mistake of
 * the body, like every fraction where a whole number belongs.
 */
function readNumbersExactly(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, text, done) =>
      parse(request, text, (error, body) => {
        const lost = error === null && POINT.test(text) ? fractionLost(text) : undefined
        if (lost === undefined) return done(error, body)
        const rule = 'may hold only numbers whose fraction can be read exactly'
        done(httpMistake({ code: 'BODY_INVALID', thing: 'the body', rule, finding: quote(lost) }))
      }),
  )
}

/** Few bodies have a fraction or an exponent: all others are not looked at again. */
const POINT = /\d[.eE][\d+-]/

/** A text, in which digits are no number; or a number that is not all digits. */
const JSON_NUMBER =
  /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?/g

/** The first number of a JSON text that has a fraction and is read as one that has none. */
function fractionLost(json: string): string | undefined {
  for (const { 0: number, groups } of json.matchAll(JSON_NUMBER)) {
    const { whole, fraction = '', exponent = '0' } = groups ?? {}
    if (whole === undefined || !Number.isInteger(Number(number))) continue
    const digits = `${whole}${fraction}`
    const last = lastNonZero(digits)
    const places = last - whole.length - Number(exponent)
    if (places > 0 && last > 0) return number
  }
  return undefined
}

/** Counted from 1; 0 for zeros alone. By hand: a pattern would look at each run of zeros again and again. */
function lastNonZero(digits: string): number {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end -= 1
  return end
}

/** For every path. */
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
    // In the order of the description: the gate after the other decisions.
    for (const name of OPERATIONS.filter(isDecision)) addEndpoint(inner, context, name)
    gateRoute(inner, context, GATE_SCHEMA)
    for (const name of OPERATIONS) if (!isDecision(name)) addEndpoint(inner, context, name)
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

const HANDLERS: ApiHandlers<ApiOperation> = {
  ...requestHandlers,
  ...limitHandlers,
  ...spendingHandlers,
  ...planHandlers,
  ...subjectHandlers,
}

const SCHEMAS: ApiSchemas = {
  ...REQUEST_SCHEMAS,
  ...SPENDING_SCHEMAS,
  ...PLAN_SCHEMAS,
  ...SUBJECT_SCHEMAS,
}

const OPERATIONS = Object.keys(ENDPOINTS).filter((name): name is ApiOperation =>
  Object.hasOwn(HANDLERS, name),
)

const isDecision = (name: ApiOperation): boolean => SCHEMAS[name].tags.includes('decisions')

function addEndpoint<Name extends ApiOperation>(
  app: FastifyInstance,
  { headgate, now }: HttpContext,
  name: Name,
): void {
  const { method, path, admin, notFound, bodyLimit } = ENDPOINTS[name]
  const handle = HANDLERS[name]
  const schema = SCHEMAS[name]
  const bodyOnly = !('params' in schema || 'querystring' in schema)
  const described: FastifySchema = {
    operationId: name,
    ...schema,
    response: { ...schema.response, ...PROBLEM_RESPONSES },
  }
  const isInput = (checked: unknown): checked is ApiInput<Name> => isObject(checked)
  app.route({
    method,
    url: path,
    schema: described,
    ...(bodyLimit && { bodyLimit }),
    ...(notFound && { errorHandler: answerNotFound(notFound) }),
    handler: (request, reply) => {
      const access = requestAccess(request)
      if (admin !== undefined) requireAdmin(access, admin)
      const { body, query, params } = request
      // The schemas have checked the parts, which have no field in common.
      const input = bodyOnly ? (body ?? NOTHING) : Object.assign({}, body, query, params)
      assert(isInput(input), 'Fastify lets in what the schemas describe')
      const call: ApiCall = {
        headgate,
        now,
        access,
        reply,
        problemOf: (error) => problemOf(error, request),
      }
      const answered = handle(call, input)
      const { refused } = app.journal
      if (refused === undefined) return answered
      return answered.then((output) => {
        if (isObject(output)) refused(request, input, output)
        return output
      })
    },
  })
}

/** The input of an operation that takes none. */
const NOTHING = Object.freeze({})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const answerNotFound =
  (code: ProblemCode): typeof handleError =>
  (error, request, reply) =>
    error instanceof HeadgateError && hasProblem(error) && error.code === code
      ? sendProblem(reply, { ...toProblem(error), status: 404 })
      : handleError(error, request, reply)

/** CONNECT, TRACE and the verbs of WebDAV get 404: no one sends them by mistake. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Known paths answer 405 to methods that they do not have, and say which they have. Call it before any
 * route is added, and the function that it returns after the last.
 */
function collectMethods(app: App): () => void {
  const byPath = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = byPath.get(url) ?? new Set()
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one)
    byPath.set(url, methods)
  })
  return () => {
    for (const [path, known] of [...byPath]) refuseOthers(app, path, known)
  }
}

function refuseOthers(app: App, url: string, known: ReadonlySet<string>): void {
  const allow = [...known].sort().join(', ')
  app.route({
    method: METHODS.filter((method) => !known.has(method)),
    url,
    schema: { hide: true },
    // Before the body is read: what it holds does not matter.
    onRequest: async ({ method }, reply) => {
      reply.header('Allow', allow)
      const rule = `takes ${allow}`
      throw httpMistake({ code: 'METHOD_NOT_ALLOWED', thing: url, rule, finding: method })
    },
    handler: async () => undefined,
  })
}

/** Before any route that it is to describe. */
const registerOpenApi = (app: App): void => {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Headgate',
        version: VERSION,
        description: 'One limiter for requests, spending and secrets.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        { name: 'decisions', description: 'Charging limits, and asking what a charge would do.' },
        { name: 'limits', description: 'Which limits are in force.' },
        { name: 'subjects', description: 'Blocks and rates on subjects, by capability.' },
        { name: 'spending', description: 'Money that an operator spends for its users.' },
        { name: 'plans', description: 'Who may spend how much.' },
        { name: 'health', description: 'For those who run the server.' },
      ],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'From `headgate tokens new`.' },
        },
      },
      security: [{ token: [] }],
    },
  })
}

const openApiRoute = (app: App): void => {
  const schema = {
    operationId: 'openapi',
    summary: 'This description',
    tags: ['health'],
    security: [],
    response: { 200: { type: 'object', additionalProperties: true } },
  }
  app.get('/openapi.json', { schema }, async () => app.swagger())
}
