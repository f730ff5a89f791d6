/** What `POST /ucan` and `/.well-known/did.json` answer. */
import { MAX_UCAN_BYTES } from '../app/bounds.ts'
import type { App, HttpContext } from '../app/endpoints.ts'
import { problemOf } from '../app/problem-handler.ts'
import { requireSubjects } from './open.ts'
import { DID_DOCUMENT_SCHEMA, UCAN_SCHEMA } from './schema.ts'

/**
 * The w3 Rate Limit Protocol. It takes no token: an invocation may do what its own proofs say. Bodies
 * are those of the protocol, mistakes are plain text.
 */
export const ucanRoutes = (app: App, context: HttpContext): void => {
  app.register(async (inner: App) => ucanRoute(inner, context))
  app.get('/.well-known/did.json', { schema: DID_DOCUMENT_SCHEMA }, async () => ({
    ...requireSubjects(context).document,
  }))
}

function ucanRoute(app: App, context: HttpContext): void {
  // Bytes of any type: the service itself refuses what it does not take.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_UCAN_BYTES },
    (_request, body, done) => done(null, body),
  )
  app.setErrorHandler((error, request, reply) => {
    const { code, status, detail } = problemOf(error, request)
    const text =
      code === 'BODY_TOO_LARGE' ? `the body holds at most ${MAX_UCAN_BYTES} bytes` : detail
    return reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`)
  })
  app.post('/ucan', { schema: UCAN_SCHEMA }, async ({ method, headers, body }, reply) => {
    const { service } = requireSubjects(context)
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
    const answer = await service.handle({ method, headers, body: bytes })
    for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
    // A receipt is for its caller only.
    reply.header('Cache-Control', 'no-store')
    return reply.code(answer.status).send(Buffer.from(answer.body))
  })
}
