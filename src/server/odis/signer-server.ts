/** A signer over HTTP: the domain API, and health and metrics for whoever runs it. It does not listen yet. */

import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { systemCode } from '../../core/errors.ts'
import { MAX_BODY_BYTES, refusedResponse, type SignerResponse } from '../../secrets/index.ts'
import * as bounds from '../http/bounds.ts'
import { watchShutdown } from '../http/shutdown.ts'
import { createProbe } from '../http/store-probe.ts'
import { VERSION } from '../version.ts'
import type { OpenSigner } from './open-signer.ts'
import { createClientErrorHandler } from './signer-client-error.ts'
import type { SignerSettings } from './signer-settings.ts'

/** What the face needs of a signer that is open. */
export interface ServedSigner extends Pick<OpenSigner, 'signer' | 'store' | 'metrics'> {
  readonly settings: Pick<SignerSettings, 'conduct' | 'trustProxy'>
}

/**
 * The caller listens and closes: `close()` finishes what was accepted, from its first moment
 * `/readyz` says no, and only afterwards may the signer be closed.
 */
export const createSignerServer = (
  opened: ServedSigner,
  log: FastifyBaseLogger,
): FastifyInstance => {
  const app = open(opened, log)
  const closing = watchShutdown(app)
  // Bytes as they are: the signer reads them, and what it refuses has its own words.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error, request, reply) => answerError(opened, error, request, reply))
  app.setNotFoundHandler((request, reply) => answer(opened, request, reply))
  for (const path of DOMAIN_PATHS) {
    app.post(path, (request, reply) => answer(opened, request, reply))
  }
  app.get('/status', (request, reply) => answer(opened, request, reply))
  addHealth(app, opened, closing)
  app.addHook('onResponse', ({ routeOptions }, { statusCode, elapsedTime }, done) => {
    opened.metrics.request(routeOptions.url ?? 'none', statusCode, elapsedTime / 1_000)
    done()
  })
  return app
}

const DOMAIN_PATHS = ['/domain/sign', '/domain/quotaStatus', '/domain/disable'] as const

function open({ settings }: ServedSigner, log: FastifyBaseLogger): FastifyInstance {
  const { trustProxy, conduct } = settings
  return fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (shared) => shared,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: false,
    ...bounds.CONNECTION_BOUNDS,
    clientErrorHandler: createClientErrorHandler({ conduct, version: VERSION }),
    frameworkErrors: (_error, _request, reply) => {
      const rule = 'the URL: must be percent-encoded UTF-8'
      return send(reply, refusedResponse('MALFORMED_REQUEST', rule, { conduct, version: VERSION }))
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
}

const NO_BODY = new Uint8Array()

async function answer(
  { signer }: ServedSigner,
  request: FastifyRequest,
  reply: FastifyReply,
  body: unknown = request.body,
): Promise<FastifyReply> {
  const { method, url, ip } = request
  const [path = ''] = url.split('?', 1)
  const response = await signer.handle({
    method,
    path,
    headers: singleHeaders(request.headers),
    body: body instanceof Uint8Array ? body : NO_BODY,
    client: ip,
  })
  if (response.status === 405) reply.header('Allow', path === '/status' ? 'GET' : 'POST')
  return send(reply, response)
}

/** A header that stands several times is none that a client of ours sends: joined, it is refused. */
const singleHeaders = (headers: FastifyRequest['headers']): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )

const send = (reply: FastifyReply, { status, headers, body }: SignerResponse): FastifyReply =>
  reply.code(status).headers(headers).send(body)

/** Stands in for a body that was not read to its end; the signer counts the address and refuses it. */
const OVERSIZED = new Uint8Array(MAX_BODY_BYTES + 1)

function answerError(
  opened: ServedSigner,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const manners = { conduct: opened.settings.conduct, version: VERSION }
  switch (systemCode(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answer(opened, request, reply, OVERSIZED)
    // A client that left within its body: nobody hears this, and a flood must not fill the log.
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE': {
      const rule = 'the body: must be JSON, and as long as its Content-Length'
      return send(reply, refusedResponse('MALFORMED_REQUEST', rule, manners))
    }
    default:
      request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed here')
      return send(reply, refusedResponse('SIGNER_FAULT', 'the signer failed', manners))
  }
}

function addHealth(app: FastifyInstance, opened: ServedSigner, closing: () => boolean): void {
  const probe = createProbe(opened.store)
  app.get('/livez', async () => ({ alive: true }))
  app.get('/readyz', async (_request, reply) => {
    const reasons = [...(closing() ? ['shutting down'] : []), ...(await probe())]
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, reasons })
  })
  app.get('/metrics', async (_request, reply) => {
    reply.type(opened.metrics.contentType)
    return opened.metrics.text()
  })
}
