/**
 * Every error of a request, answered as a problem. The caller reads about its own mistakes; ours go
 * to the log.
 */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { HeadgateError, type Mistake, quote, StoreError } from '../../core/errors.ts'
import { suggestion } from '../../documents/field.ts'
import {
  HEADERS_TIMEOUT_MS,
  MAX_PATH_ID_LENGTH,
  MAX_REQUEST_BYTES,
  REQUEST_TIMEOUT_MS,
} from './bounds.ts'
import {
  GATE_PATH,
  type HttpErrorCode,
  hasProblem,
  httpMistake,
  PROBLEM_JSON,
  type Problem,
  type ProblemCode,
  RETRY_SECONDS,
  toProblem,
} from './problems.ts'

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
    case 'STORE_FENCED':
    case 'CLOCK_UNTRUSTED':
      reply.header('Retry-After', RETRY_SECONDS)
      break
  }
  // By no schema of its route: that of a refusal would garble every other problem of its status.
  return reply
    .code(problem.status)
    .type(`${PROBLEM_JSON}; charset=utf-8`)
    .serializer(JSON.stringify)
    .send(problem)
}

/** What to tell the caller. What the operator should know is in the log. */
export const problemOf = (error: unknown, request: FastifyRequest): Problem => {
  const found = findProblem(error, request)
  const problem = isAtGate(request) && found.status < 500 ? misconfigured(found) : found
  if (REJECTIONS.has(problem.code)) request.server.journal.rejected(request, problem)
  return problem
}

/** Who may not ask; their number is up to others, so the log samples them. */
const REJECTIONS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'TOKEN_MISSING',
  'TOKEN_UNKNOWN',
  'SCOPE_MISSING',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'GATE_MISCONFIGURED',
])

const isAtGate = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url === GATE_PATH

/**
 * At the gate the status is the decision, and the asker is a proxy: 401 and 403 would refuse a client
 * who did nothing wrong, and any other 4xx would tell it of a mistake that is not its own.
 */
function misconfigured({ code: cause, thing, rule, finding }: Problem): Problem {
  const mistake = { code: 'GATE_MISCONFIGURED', thing, rule } as const
  const told = httpMistake(finding === undefined ? mistake : { ...mistake, finding })
  return { ...toProblem(told), cause }
}

function findProblem(error: unknown, request: FastifyRequest): Problem {
  // The watch over the clock tells of it once; each request would tell the same.
  if (error instanceof StoreError && error.code !== 'CLOCK_UNTRUSTED') {
    request.server.journal.storeFailed(request, error)
  }
  if (error instanceof HeadgateError && hasProblem(error)) return toProblem(error)
  const mistake = frameworkMistake(error, request)
  if (mistake !== undefined) return toProblem(httpMistake(mistake))
  // The route and not the URL: that may name people.
  const place = { method: request.method, route: request.routeOptions.url }
  request.log.error({ err: error, ...place }, 'a request failed by a mistake of ours')
  return toProblem(httpMistake(INTERNAL))
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
        rule: `holds at most ${MAX_REQUEST_BYTES} bytes`,
      }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return contentType(request)
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { ...NOT_JSON, finding: 'nothing' }
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return NOT_JSON
    // The client left within its body. A flood of these must not fill the log.
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

interface Invalid {
  readonly fault: FastifySchemaValidationError
  /** What was checked, to find in it what the fault points at. */
  readonly data: unknown
  /** What to call the whole. */
  readonly whole: string
}

/** What a schema found wrong, as a mistake: `charges[0].cost: must be integer, found "two"`. */
function describeInvalid({ fault, data, whole }: Invalid): Omit<Mistake, 'code'> {
  const steps = fault.instancePath.split('/').slice(1).map(unescapePointer)
  const thing = pathText(steps) || whole
  const { params, message = 'is not valid' } = fault
  switch (fault.keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty'])
      const rule = `is no known field of ${thing}${suggestion(name, fieldsAt(fault))}`
      return { thing: pathText([...steps, name]), rule }
    }
    case 'required':
      return { thing, rule: `needs the field ${quote(String(params['missingProperty']))}` }
    case 'enum':
      return { thing, rule: `must be one of ${allowed(params)}`, finding: found(data, steps) }
    default:
      return { thing, rule: message, finding: found(data, steps) }
  }
}

/** Those of this place and no other: what another place has would be wrong here too. */
function fieldsAt(fault: FastifySchemaValidationError): readonly string[] {
  // Ajv adds the schema at fault where it is told to be verbose.
  const place = 'parentSchema' in fault ? fault.parentSchema : undefined
  return Object.keys(Object(Reflect.get(Object(place), 'properties')))
}

const unescapePointer = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

const pathText = (steps: readonly string[]): string =>
  steps.reduce((path, step) => {
    if (/^\d+$/.test(step)) return `${path}[${step}]`
    return path === '' ? step : `${path}.${step}`
  }, '')

const allowed = ({ allowedValues }: Record<string, unknown>): string =>
  Array.isArray(allowedValues) ? allowedValues.join(', ') : ''

function found(data: unknown, steps: readonly string[]): string {
  const value = steps.reduce(
    (held: unknown, step) =>
      typeof held === 'object' && held !== null ? Reflect.get(held, step) : undefined,
    data,
  )
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? quote(value) : String(value)
}

/** For bytes that never became a request: a problem too, then the connection is closed. */
export const answerClientError = (error: { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(response(error.code))
  socket.destroySoon()
}

function response(code: string | undefined): string {
  const { title, status, ...problem } = problemFor(code)
  const body = JSON.stringify({ ...problem, title, status })
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}`,
    `Content-Type: ${PROBLEM_JSON}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function problemFor(code: string | undefined) {
  const of = (name: HttpErrorCode, thing: string, rule: string) =>
    toProblem(httpMistake({ code: name, thing, rule }))
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const rule = `must come within ${HEADERS_TIMEOUT_MS} ms to the end of its headers, ${REQUEST_TIMEOUT_MS} ms in all`
      return of('REQUEST_TIMEOUT', 'the request', rule)
    }
    case 'HPE_HEADER_OVERFLOW':
      return of('HEADERS_TOO_LARGE', 'the headers', 'hold at most 16 KiB in all')
    default:
      return of('REQUEST_MALFORMED', 'the request', 'must be well-formed HTTP/1.1')
  }
}
