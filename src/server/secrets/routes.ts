/** A signer over HTTP: the domain API, health and metrics. It does not listen yet. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { systemCode } from '../../core/errors.ts'
import { describeClock } from '../../core/machine-clock.ts'
import {
  type Endpoint,
  KEY_VERSION_HEADER,
  MAX_SIGNER_BODY_BYTES,
  type Signer,
  type SignerRefusalReason,
  type SignerResponse,
} from '../../secrets/index.ts'
import { watchShutdown } from '../app/access.ts'
import * as bounds from '../app/bounds.ts'
import { createProbe } from '../app/health.ts'
import { VERSION } from '../app/version.ts'
import type { SignerSettings } from './config.ts'
import type { SignerMetrics } from './metrics.ts'
import type { OpenSigner } from './open.ts'

/** What the routes need of an open signer. */
interface ServedSigner extends Pick<OpenSigner, 'signer' | 'store' | 'clock'> {
  readonly metrics: Pick<SignerMetrics, 'answer' | 'request' | 'text' | 'contentType'>
  readonly settings: Pick<SignerSettings, 'trustProxy' | 'corsOrigins'>
}

/**
 * The caller listens and closes. `close()` finishes what was accepted; from its start `/readyz` says
 * no; only after it may the signer be closed.
 */
export const createSignerServer = (
  opened: ServedSigner,
  log: FastifyBaseLogger,
): FastifyInstance => {
  const app = open(opened, log)
  const closing = watchShutdown(app)
  // Bytes as they are: the signer reads them, and refuses them in its own words.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error, request, reply) => answerError(opened, error, request, reply))
  app.setNotFoundHandler((request, reply) => answerUnrouted(opened, request, reply))
  allowOrigins(app, opened.settings.corsOrigins)
  for (const endpoint of ENDPOINTS) addEndpoint(app, opened, endpoint)
  app.get('/status', async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ version: VERSION }),
  )
  addHealth(app, opened, closing)
  app.addHook('onResponse', ({ routeOptions }, { statusCode, elapsedTime }, done) => {
    opened.metrics.request(routeOptions.url ?? 'none', statusCode, elapsedTime / 1_000)
    done()
  })
  return app
}

const ENDPOINTS = ['sign', 'quotaStatus', 'disable'] as const satisfies readonly Endpoint[]

const pathOf = (endpoint: Endpoint): string => `/domain/${endpoint}`

function open({ settings, signer }: ServedSigner, log: FastifyBaseLogger): FastifyInstance {
  const { trustProxy } = settings
  return fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (shared) => shared,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: MAX_SIGNER_BODY_BYTES,
    exposeHeadRoutes: false,
    ...bounds.CONNECTION_BOUNDS,
    clientErrorHandler: (error, socket) => answerBrokenHttp(signer, error.code, socket),
    frameworkErrors: (_error, _request, reply) => {
      const rule = 'the URL: must be percent-encoded UTF-8'
      return send(reply, signer.refuse('MALFORMED_REQUEST', rule))
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
}

const NO_BODY = new Uint8Array()

/** Replaces a body that was not read to its end: the signer counts the address and refuses it. */
const OVERSIZED = new Uint8Array(MAX_SIGNER_BODY_BYTES + 1)

function addEndpoint(app: FastifyInstance, opened: ServedSigner, endpoint: Endpoint): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply, body: unknown) => {
    const response = await opened.signer.answer(endpoint, {
      body: body instanceof Uint8Array ? body : NO_BODY,
      keyVersion: keyVersionOf(request),
      client: request.ip,
    })
    return send(reply, response)
  }
  app.route({
    method: 'POST',
    url: pathOf(endpoint),
    handler: (request, reply) => answer(request, reply, request.body),
    errorHandler: (error, request, reply) =>
      systemCode(error) === BODY_TOO_LARGE
        ? answer(request, reply, OVERSIZED)
        : answerError(opened, error, request, reply),
  })
}

/** No client of ours sends the header twice: joined, it is refused. */
function keyVersionOf({ headers }: FastifyRequest): string | undefined {
  const found = headers[KEY_VERSION_HEADER]
  return Array.isArray(found) ? found.join(', ') : found
}

const send = (reply: FastifyReply, { status, headers, body }: SignerResponse): FastifyReply =>
  reply.code(status).headers(headers).send(body)

type PathMethod = readonly [endpoint: Endpoint | 'status', method: 'GET' | 'POST']

/** The method of each path, for requests by another. */
const METHODS: ReadonlyMap<string, PathMethod> = new Map<string, PathMethod>([
  ...ENDPOINTS.map((endpoint): [string, PathMethod] => [pathOf(endpoint), [endpoint, 'POST']]),
  ['/status', ['status', 'GET']],
])

/** What a page may send, as the deployed service lets it, and for how many seconds it need not ask again. */
const PREFLIGHT = {
  'access-control-allow-headers': `content-type, accept, authorization, x-requested-with, ${KEY_VERSION_HEADER}`,
  'access-control-max-age': '7200',
}

/**
 * Wallets in browsers (Fetch standard, "CORS protocol"): pages of these origins can read what the domain
 * API and `/status` answer, refusals included. A preflight counts for no limit: it asks nothing of a domain.
 */
function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const any = origins.includes('*')
  app.addHook('onRequest', ({ method, headers, url }, reply, done) => {
    const known = METHODS.get(pathIn(url))
    if (known === undefined) return done()
    // Also where it is not allowed: a cache must not give one origin the answer to another.
    if (!any) reply.header('vary', 'Origin')
    const { origin, 'access-control-request-method': asked } = headers
    if (origin === undefined || !(any || origins.includes(origin))) return done()
    reply.header('access-control-allow-origin', any ? '*' : origin)
    reply.header('access-control-expose-headers', `${KEY_VERSION_HEADER}, retry-after`)
    if (method !== 'OPTIONS' || asked === undefined) return done()
    reply.headers({ ...PREFLIGHT, 'access-control-allow-methods': known[1] })
    reply.code(204).send()
  })
}

const pathIn = (url: string): string => url.split('?', 1)[0] ?? ''

function answerUnrouted(
  { signer, metrics }: ServedSigner,
  { url }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = pathIn(url)
  const known = METHODS.get(path)
  if (known === undefined) {
    metrics.answer({ endpoint: 'none', outcome: 'ROUTE_UNKNOWN' })
    const rule = `the path: must be one of ${[...METHODS.keys()].join(', ')}`
    return send(reply, signer.refuse('ROUTE_UNKNOWN', rule))
  }
  const [endpoint, method] = known
  metrics.answer({ endpoint, outcome: 'METHOD_UNSUPPORTED' })
  reply.header('Allow', method)
  return send(reply, signer.refuse('METHOD_UNSUPPORTED', `${path}: must be asked by ${method}`))
}

const BODY_TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE'

function answerError(
  opened: ServedSigner,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { signer } = opened
  switch (systemCode(error)) {
    // Only a path without a route gets here: an endpoint answers it itself.
    case BODY_TOO_LARGE:
      return answerUnrouted(opened, request, reply)
    // A client that left within its body: it reads no answer, and a flood must not fill the log.
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE': {
      const rule = 'the body: must be JSON, and as long as its Content-Length'
      return send(reply, signer.refuse('MALFORMED_REQUEST', rule))
    }
    default:
      request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed here')
      return send(reply, signer.refuse('SIGNER_FAULT', 'the signer failed'))
  }
}

function addHealth(app: FastifyInstance, opened: ServedSigner, closing: () => boolean): void {
  const probe = createProbe(opened.store)
  app.get('/livez', async () => ({ alive: true }))
  app.get('/readyz', async (_request, reply) => {
    const clock = opened.clock.verdict()
    const reasons = [
      ...(closing() ? ['shutting down'] : []),
      ...(await probe()),
      ...(clock?.trusted === true ? [] : [describeClock(clock)]),
    ]
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, reasons })
  })
  app.get('/metrics', async (_request, reply) =>
    reply.type(opened.metrics.contentType).send(await opened.metrics.text()),
  )
}

/** For bytes that never became a request: CIP-40's JSON too, then the connection ends. */
function answerBrokenHttp(signer: Signer, code: string | undefined, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(asText(signer.refuse(...refusalOf(code))))
  socket.destroySoon()
}

function refusalOf(code: string | undefined): [SignerRefusalReason, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['REQUEST_TIMEOUT', 'the request: must arrive whole within 30 s']
    case 'HPE_HEADER_OVERFLOW':
      return ['HEADERS_TOO_LARGE', 'the headers: must hold at most 16 KiB in all']
    default:
      return ['MALFORMED_REQUEST', 'the request: must be well-formed HTTP/1.1']
  }
}

function asText({ status, headers, body }: SignerResponse): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Bad Request'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
