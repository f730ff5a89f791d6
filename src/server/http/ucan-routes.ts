/**
 * `POST /ucan` and `/.well-known/did.json`: the w3 Rate Limit Protocol. No token is asked for: what
 * an invocation may do, its own proofs say. Bodies are those of the protocol, mistakes plain text.
 */
import { Type } from 'typebox'
import { MAX_UCAN_BODY_BYTES } from './bounds.ts'
import type { App, HttpContext } from './context.ts'
import { problemOf } from './problem-handler.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { requireSubjects } from './require-subjects.ts'

const CAR = 'application/vnd.ipld.car'

const asCar = (description: string) => ({
  description,
  content: { [CAR]: { schema: Type.Unsafe<Buffer>({}) } },
})

const UCAN_SCHEMA = {
  operationId: 'ucan',
  summary: 'Invoke rate-limit/… and ucan/revoke',
  description:
    'A CAR with a ucanto message of invocations; their proofs are the authority. Answers a CAR with signed receipts.',
  tags: ['subjects'],
  security: [],
  body: asCar('Invocations.'),
  response: { 200: asCar('Receipts.'), '4xx': { type: 'string' }, '5xx': { type: 'string' } },
}

const DOCUMENT_SCHEMA = {
  operationId: 'didDocument',
  summary: 'Who the UCAN service is',
  description: 'Its DID and its public key: a DID document.',
  tags: ['subjects'],
  security: [],
  response: { 200: { type: 'object', additionalProperties: true }, ...PROBLEM_RESPONSES },
}

export const ucanRoutes = (app: App, context: HttpContext): void => {
  app.register(async (inner: App) => ucanRoute(inner, context))
  app.get('/.well-known/did.json', { schema: DOCUMENT_SCHEMA }, async () => ({
    ...requireSubjects(context).document,
  }))
}

function ucanRoute(app: App, context: HttpContext): void {
  // Bytes of any kind, for the service to judge: it says itself what it takes.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_UCAN_BODY_BYTES },
    (_request, body, done) => done(null, body),
  )
  app.setErrorHandler((error, request, reply) => {
    const { code, status, detail } = problemOf(error, request)
    const text =
      code === 'BODY_TOO_LARGE' ? `the body holds at most ${MAX_UCAN_BODY_BYTES} bytes` : detail
    return reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`)
  })
  app.post('/ucan', { schema: UCAN_SCHEMA }, async ({ method, headers, body }, reply) => {
    const { service } = requireSubjects(context)
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
    const answer = await service.handle({ method, headers, body: bytes })
    for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
    // Receipts are for those who asked.
    reply.header('Cache-Control', 'no-store')
    return reply.code(answer.status).send(Buffer.from(answer.body))
  })
}
