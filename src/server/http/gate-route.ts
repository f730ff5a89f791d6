/** `GET /v1/gate`: a decision as a status, for proxies that ask before they pass a request on. */
import { type Static, Type } from 'typebox'
import type { Answer } from '../../requests/index.ts'
import { toProblem } from '../problems.ts'
import { requestAccess } from './access.ts'
import { toAnswerBody } from './answer-body.ts'
import { MAX_ID_LENGTH, MAX_LIMIT_NAME_LENGTH, MAX_SUBJECT_LENGTH, MAX_SUBJECTS } from './bounds.ts'
import { clientAddress } from './client-address.ts'
import type { App, HttpContext } from './context.ts'
import { httpMistake } from './mistake.ts'
import { PROBLEM_JSON, PROBLEM_RESPONSES, type Refusal, refusalResponse } from './problem-schema.ts'
import { setRateHeaders } from './rate-headers.ts'

const Query = Type.Object(
  {
    limit: Type.String({ maxLength: MAX_LIMIT_NAME_LENGTH, description: 'The name of a limit.' }),
    id: Type.Optional(
      Type.String({
        maxLength: MAX_ID_LENGTH,
        description:
          'Who is counted. Without it, and for a limit of ipAddress, the address of the client; IPv6 by its /64.',
      }),
    ),
    cost: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'A whole number; 1 unless told.' }),
    ),
    refuseWith: Type.Optional(
      Type.Enum(['429', '403', '401'], {
        description:
          'The status of a refusal; 429 unless told, 403 for a block. Some proxies know only 401 and 403.',
      }),
    ),
    subject: Type.Optional(
      Type.Unsafe<string | readonly string[]>({
        type: ['string', 'array'],
        items: { type: 'string', maxLength: MAX_SUBJECT_LENGTH },
        maxLength: MAX_SUBJECT_LENGTH,
        maxItems: MAX_SUBJECTS,
        description: 'Whom the request concerns; may stand several times. A block on any refuses.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const gateRoute = (app: App, context: HttpContext): void => {
  const { helpLink } = context.headgate.settings
  const schema = {
    operationId: 'gate',
    summary: 'Charge one, and answer by the status',
    description:
      '204 if allowed, 429 (or what refuseWith says) if not, 403 if a subject is blocked.',
    tags: ['decisions'],
    querystring: Query,
    response: {
      204: Type.Null({ description: 'Allowed.' }),
      401: refusalResponse,
      403: refusalResponse,
      429: refusalResponse,
      ...PROBLEM_RESPONSES,
    },
  }
  app.get('/v1/gate', { schema }, async (request, reply) => {
    const { limit, cost, subject } = request.query
    const id = idOf(request.query, request.ip, context)
    const answer = await context.headgate.limiter.spend(
      {
        limit,
        ...id,
        ...(cost === undefined ? {} : { cost: Number(cost) }),
        ...(subject === undefined ? {} : { subjects: [subject].flat() }),
      },
      requestAccess(request),
    )
    setRateHeaders(reply, answer, helpLink)
    if (answer.allowed) return reply.code(204).send(null)
    const usual = answer.reason === 'blocked' ? '403' : '429'
    const status = STATUSES[request.query.refuseWith ?? usual]
    reply.type(PROBLEM_JSON)
    return reply.code(status).send(toRefusal(answer, status, context))
  })
}

const STATUSES = { '401': 401, '403': 403, '429': 429 } as const

function idOf(
  { limit, id }: Static<typeof Query>,
  ip: string,
  { headgate }: HttpContext,
): { id?: string } {
  if (id !== undefined) return { id }
  const definition = headgate.catalog.current().limits.get(limit)
  return definition?.idFormat === 'ipAddress' ? { id: clientAddress(ip) } : {}
}

function toRefusal(answer: Answer, status: number, context: HttpContext): Refusal {
  const { message, retryAfterMs } = toAnswerBody(answer, context)
  const violated = answer.violated.join(', ')
  const mistake =
    answer.reason === 'blocked'
      ? httpMistake({ code: 'SUBJECT_BLOCKED', thing: violated, rule: 'admits no blocked subject' })
      : httpMistake({ code: 'QUOTA_EXCEEDED', thing: violated, rule: 'is used up' })
  return {
    ...toProblem(mistake),
    status,
    detail: message ?? mistake.message,
    'violated-policies': answer.violated,
    retryAfterMs,
  }
}
