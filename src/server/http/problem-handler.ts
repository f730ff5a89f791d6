/** Every error of a request, answered as a problem. What is not the caller's fault is logged, not told. */
import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { HeadgateError, type Mistake, StoreError } from '../../core/index.ts'
import { quote } from '../../documents/index.ts'
import { type HttpErrorCode, hasProblem, type Problem, toProblem } from '../problems.ts'
import { MAX_BODY_BYTES, MAX_PATH_ID_LENGTH } from './bounds.ts'
import { describeInvalid } from './describe-validation.ts'
import { httpMistake } from './mistake.ts'
import { PROBLEM_JSON } from './problem-schema.ts'

export const handleError = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => sendProblem(reply, problemOf(error, request))

export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply => {
  switch (problem.code) {
    case 'TOKEN_MISSING':
      reply.header('WWW-Authenticate', 'Bearer realm="headgate"')
      break
    case 'TOKEN_UNKNOWN':
      reply.header('WWW-Authenticate', 'Bearer realm="headgate", error="invalid_token"')
      break
    case 'STORE_UNAVAILABLE':
    case 'STORE_CONTENDED':
    case 'STORE_CLOSED':
      reply.header('Retry-After', STORE_RETRY_SECONDS)
      break
  }
  return reply.code(problem.status).type(PROBLEM_JSON).send(problem)
}

/** Long enough for a lock to be let go; a store that is gone is gone for longer, and asking costs little. */
const STORE_RETRY_SECONDS = '1'

export const problemOf = (error: unknown, request: FastifyRequest): Problem => {
  if (error instanceof StoreError) log(request, 'warn', error, 'the store failed a request')
  if (error instanceof HeadgateError && hasProblem(error)) return toProblem(error)
  const mistake = frameworkMistake(error, request)
  if (mistake !== undefined) return toProblem(httpMistake(mistake))
  log(request, 'error', error, 'a request failed by a mistake of ours')
  return toProblem(httpMistake(INTERNAL))
}

/** The route and not the URL: that may name people. */
function log(request: FastifyRequest, level: 'warn' | 'error', err: unknown, text: string): void {
  request.log[level]({ err, method: request.method, route: request.routeOptions.url }, text)
}

const INTERNAL = {
  code: 'INTERNAL',
  thing: 'Headgate',
  rule: 'should have answered this; its log says why it did not',
} as const satisfies Mistake<HttpErrorCode>

/** What Fastify refuses before a handler runs; undefined for what is no fault of the caller. */
function frameworkMistake(
  error: unknown,
  request: FastifyRequest,
): Mistake<HttpErrorCode> | undefined {
  if (!(error instanceof Error)) return undefined
  if (isInvalid(error)) return invalid(error, request)
  switch ('code' in error ? error.code : undefined) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        code: 'BODY_TOO_LARGE',
        thing: 'the body',
        rule: `holds at most ${MAX_BODY_BYTES} bytes`,
      }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return contentType(request)
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { ...NOT_JSON, finding: 'nothing' }
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return NOT_JSON
    // A client that left within its body: nobody hears this, and a flood must not fill the log.
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return {
        code: 'REQUEST_MALFORMED',
        thing: 'the body',
        rule: 'must be as long as its Content-Length',
      }
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_INVALID_URL':
      return {
        code: 'URL_INVALID',
        thing: 'the URL',
        rule: 'must be percent-encoded UTF-8',
        finding: quote(request.url),
      }
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return {
        code: 'URL_TOO_LONG',
        thing: 'a part of the path',
        rule: `has at most ${MAX_PATH_ID_LENGTH} characters`,
      }
    default:
      return undefined
  }
}

const NOT_JSON = {
  code: 'BODY_NOT_JSON',
  thing: 'the body',
  rule: 'must be a JSON document',
} as const satisfies Mistake<HttpErrorCode>

function contentType({ headers }: FastifyRequest): Mistake<HttpErrorCode> {
  const found = headers['content-type']
  return {
    code: 'CONTENT_TYPE_UNSUPPORTED',
    thing: 'Content-Type',
    rule: 'must be application/json',
    finding: found === undefined ? 'none' : quote(found),
  }
}

interface InvalidError extends Error {
  readonly validation: readonly FastifySchemaValidationError[]
  readonly validationContext?: string
}

const isInvalid = (error: Error): error is InvalidError =>
  'validation' in error && Array.isArray(error.validation)

function invalid(error: InvalidError, request: FastifyRequest): Mistake<HttpErrorCode> | undefined {
  const [fault] = error.validation
  if (fault === undefined) return undefined
  return error.validationContext === 'body'
    ? { code: 'BODY_INVALID', ...describeInvalid({ fault, data: request.body, whole: 'the body' }) }
    : {
        code: 'QUERY_INVALID',
        ...describeInvalid({ fault, data: request.query, whole: 'the query' }),
      }
}
