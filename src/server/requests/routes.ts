/** What decisions, places and the gate answer over HTTP. */
import { after, toSeconds, waitMillis } from '../../core/time.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { clientAddress } from '../../net/client-address.ts'
import { describeDenial } from '../../requests/acme/denial.ts'
import { setRateHeaders } from '../../requests/headers.ts'
import type { Answer, ChargeAnswer, Request } from '../../requests/limiter/charge.ts'
import type { PlaceAnswer } from '../../requests/limiter/places.ts'
import type { LimiterVerb } from '../../requests/limiter/verbs.ts'
import { requestAccess, requireAdmin } from '../app/access.ts'
import type { ApiCall, ApiHandlers, App, HttpContext, RequestOperation } from '../app/endpoints.ts'
import type { GateRefusal } from '../app/problem-schema.ts'
import { GATE_PATH, httpMistake, PROBLEM_JSON, toProblem } from '../app/problems.ts'
import type { GATE_SCHEMA, GateQuestion } from './gate-schema.ts'
import type { LimitOperation } from './limit-routes.ts'
import type { AnswerBody, BatchAnswer, ChargeBody, PlaceBody, QuestionBody } from './schema.ts'

export const requestHandlers: ApiHandlers<Exclude<RequestOperation, LimitOperation>> = {
  spend: (call, question) => decide(call, 'spend', question),
  check: (call, question) => decide(call, 'check', question),
  refund: (call, question) => decide(call, 'refund', question),
  reset: (call, question) => decide(call, 'reset', question),

  // All at once, so that they share one commit of the store.
  batch: async (call, { questions }) => ({
    answers: await Promise.all(
      questions.map(async ({ verb = 'spend', ...question }): Promise<BatchAnswer> => {
        try {
          return toAnswerBody(await answerQuestion(call, verb, question), call)
        } catch (error) {
          return { error: call.problemOf(error) }
        }
      }),
    ),
  }),

  acquire: async ({ headgate: { limiter }, access, reply }, ask) => {
    const answer = await limiter.acquire(ask, access)
    const { retryIn } = answer
    if (!answer.allowed && retryIn !== 'never') {
      reply.header('Retry-After', String(toSeconds(retryIn)))
    }
    return toPlaceBody(answer)
  },

  release: async ({ headgate: { limiter }, access }, { placeId }) => ({
    released: await limiter.release(placeId, access),
  }),
}

async function decide(
  call: ApiCall,
  verb: LimiterVerb,
  question: QuestionBody,
): Promise<AnswerBody> {
  const answer = await answerQuestion(call, verb, question)
  setRateHeaders(call.reply, answer, call.headgate.settings.helpLink)
  return toAnswerBody(answer, call)
}

/** Checks that the caller may ask it, and puts it to the limiter. */
async function answerQuestion(
  { headgate: { limiter }, access }: ApiCall,
  verb: LimiterVerb,
  question: QuestionBody,
): Promise<Answer> {
  const request = toRequest(question)
  switch (verb) {
    case 'check':
      refuseOperationId(question)
      return limiter.check(request)
    case 'spend':
      return limiter.spend(request, access)
    case 'refund':
      if (question.operationId === undefined) requireAdmin(access, 'a refund without operationId')
      return limiter.refund(request, access)
    case 'reset':
      requireAdmin(access, 'a reset')
      return limiter.reset(request, access)
    default:
      return verb satisfies never
  }
}

function toRequest(question: QuestionBody): Request {
  const { limit, charges, operationId, ...stray } = question
  if (limit !== undefined) {
    if (charges !== undefined) refuseField('limit', 'must not stand beside charges')
    return operationId === undefined ? { limit, ...stray } : { limit, ...stray, operationId }
  }
  const [field] = Object.keys(stray)
  if (field !== undefined) {
    refuseField(
      field,
      charges === undefined ? 'needs a limit beside it' : 'must stand inside charges',
    )
  }
  return {
    ...(charges === undefined ? {} : { charges }),
    ...(operationId === undefined ? {} : { operationId }),
  }
}

/** In a batch: a check by itself is refused by its schema. */
function refuseOperationId({ operationId }: QuestionBody): void {
  if (operationId !== undefined) refuseField('operationId', 'has no meaning in a check')
}

function refuseField(thing: string, rule: string): never {
  throw httpMistake({ code: 'BODY_INVALID', thing, rule })
}

/** What the sentence of a refusal needs beyond the answer. */
type AnswerContext = Pick<ApiCall, 'headgate' | 'now'>

// Field by field: spreading the part that answer and charge share made this three times as slow.
const toAnswerBody = (answer: Answer, context: AnswerContext): AnswerBody => {
  const charges = answer.charges.map((charge) => toChargeBody(charge, context))
  return {
    allowed: answer.allowed,
    remaining: toCount(answer.remaining),
    retryAfterMs: waitMillis(answer.retryIn),
    resetAfterMs: waitMillis(answer.resetIn),
    reason: answer.reason,
    message: answer.allowed ? undefined : strictestMessage(answer, charges),
    violated: answer.violated.length === 0 ? undefined : answer.violated,
    replayed: answer.replayed,
    charges,
  }
}

/** JSON has no infinity: null means it. */
export const toCount = (remaining: number): number | null =>
  Number.isFinite(remaining) ? remaining : null

const toChargeBody = (charge: ChargeAnswer, context: AnswerContext): ChargeBody => ({
  limit: charge.limit,
  id: charge.id,
  bucket: charge.bucket,
  allowed: charge.allowed,
  remaining: toCount(charge.remaining),
  retryAfterMs: waitMillis(charge.retryIn),
  resetAfterMs: waitMillis(charge.resetIn),
  reason: charge.reason,
  message: messageOf(charge, context),
  source: charge.source,
  shadow: charge.shadow,
})

const toPlaceBody = (answer: PlaceAnswer): PlaceBody => ({
  allowed: answer.allowed,
  reason: answer.reason,
  placeId: answer.place?.id,
  expiresAt: answer.place && toTimestamp(answer.place.expiresAt),
  remaining: toCount(answer.remaining),
  retryAfterMs: waitMillis(answer.retryIn),
  replayed: answer.replayed,
})

/** The sentence of the charge whose wait is that of the whole answer; a `try` or a shadow refuses nothing. */
function strictestMessage(answer: Answer, bodies: readonly ChargeBody[]): string | undefined {
  const position = answer.charges.findIndex(
    ({ allowed, mode, shadow, retryIn }) =>
      !allowed && mode !== 'try' && shadow !== true && retryIn === answer.retryIn,
  )
  return bodies[position]?.message
}

function messageOf(charge: ChargeAnswer, context: AnswerContext): string | undefined {
  switch (charge.reason) {
    case 'RATE_LIMIT':
      return denial(charge, context)
    case 'BLOCKED':
      return describeBlock(context)
    default:
      return undefined
  }
}

/** Not which of the subjects, nor why: the reader may be the one who is blocked. */
function describeBlock({ headgate }: AnswerContext): string {
  const { helpLink } = headgate.settings
  const help = helpLink === undefined ? '' : `: see ${helpLink}`
  return `whom this request concerns is blocked, and waiting does not help${help}`
}

/** Without a sentence where the limit has meanwhile left the catalog. */
function denial(
  { limit, id, bucket: key, source, policy, retryIn }: ChargeAnswer,
  { headgate, now }: AnswerContext,
): string | undefined {
  const definition = headgate.catalog.current().limits.get(limit)
  if (definition === undefined || policy === undefined || retryIn === 'never') return undefined
  const bucket = { definition, id, key, limit: { kind: 'gcra', ...policy }, source } as const
  return describeDenial(bucket, after(now(), retryIn), headgate.settings.helpLink)
}

/** The schema is an argument, so that a command which decides here loads none. */
export const gateRoute = (app: App, context: HttpContext, schema: typeof GATE_SCHEMA): void => {
  const { helpLink } = context.headgate.settings
  app.get(GATE_PATH, { schema }, async (request, reply) => {
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
    const usual = answer.reason === 'BLOCKED' ? '403' : '429'
    const status = STATUSES[request.query.refuseWith ?? usual]
    const refusal = toRefusal(answer, status, context)
    const { retryAfterMs } = refusal
    app.journal.refused?.(request, request.query, { ...answer, retryAfterMs })
    reply.type(PROBLEM_JSON)
    return reply.code(status).send(refusal)
  })
}

const STATUSES = { '401': 401, '403': 403, '429': 429 } as const

function idOf({ limit, id }: GateQuestion, ip: string, { headgate }: HttpContext): { id?: string } {
  if (id !== undefined) return { id }
  const definition = headgate.catalog.current().limits.get(limit)
  if (definition?.idFormat === 'client') return { id: ip }
  return definition?.idFormat === 'ipAddress' ? { id: clientAddress(ip) ?? ip } : {}
}

function toRefusal(answer: Answer, status: number, context: HttpContext): GateRefusal {
  const { message, retryAfterMs } = toAnswerBody(answer, context)
  const violated = answer.violated.join(', ')
  const mistake =
    answer.reason === 'BLOCKED'
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
