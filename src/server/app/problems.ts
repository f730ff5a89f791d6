/** What goes wrong over HTTP, as problem details (RFC 9457): each code with its status and title. */
import type { BatchErrorCode } from '../../core/decide.ts'
import {
  HeadgateError,
  type Mistake,
  type Position,
  type StoreErrorCode,
} from '../../core/errors.ts'
import type { OperationErrorCode } from '../../core/once.ts'
import type { CatalogErrorCode } from '../../requests/catalog/definition.ts'
import type { AskErrorCode, GuardErrorCode } from '../../requests/limiter/charge.ts'
import type { RefundErrorCode } from '../../requests/limiter/operations.ts'
import type { LimiterErrorCode } from '../../requests/limiter/places.ts'
import type { PlanErrorCode, QueueErrorCode, SpendingErrorCode } from '../../spending/index.ts'
import type { SubjectErrorCode } from '../../subjects/index.ts'

/** Where proxies ask, and read the decision from the status. */
export const GATE_PATH = '/v1/gate'

/** Long enough for a lock to be let go; a store that is gone is gone for longer, and asking costs little. */
export const RETRY_SECONDS = '1'

/** The media type of problems. */
export const PROBLEM_JSON = 'application/problem+json'

export type HttpErrorCode =
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'URL_INVALID'
  | 'URL_TOO_LONG'
  | 'QUERY_INVALID'
  | 'BODY_INVALID'
  | 'BODY_NOT_JSON'
  | 'BODY_TOO_LARGE'
  | 'CONTENT_TYPE_UNSUPPORTED'
  | 'TOKEN_MISSING'
  | 'TOKEN_UNKNOWN'
  | 'SCOPE_MISSING'
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'REQUEST_MALFORMED'
  | 'REQUEST_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'QUOTA_EXCEEDED'
  | 'SUBJECT_BLOCKED'
  | 'GATE_MISCONFIGURED'
  | 'SUBJECTS_OFF'
  | 'SPENDING_OFF'
  | 'QUEUE_OFF'
  | 'OVERLOADED'
  | 'INTERNAL'

/** Of every room that a request reaches. A code without a row below does not compile. */
export type ProblemCode =
  | HttpErrorCode
  | AskErrorCode
  | BatchErrorCode
  | CatalogErrorCode
  | OperationErrorCode
  | RefundErrorCode
  | LimiterErrorCode
  | StoreErrorCode
  | GuardErrorCode
  | SpendingErrorCode
  | QueueErrorCode
  // Of a file that is to be compared with the one in force.
  | PlanErrorCode
  // The rest of them go out in receipts, or reach only operators.
  | Extract<SubjectErrorCode, 'SUBJECT_INVALID' | 'SUBJECTS_TOO_MANY'>

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ProblemCode
  readonly detail: string
  readonly thing: string
  readonly rule: string
  readonly finding?: string
  /** Which mistake in particular, where the code does not say it. */
  readonly cause?: ProblemCode
  /** In a document that was sent. */
  readonly at?: Position
}

export const toProblem = (error: HeadgateError<ProblemCode>): Problem => {
  const { code, message: detail, thing, rule, finding, at } = error
  const { status, title } = PROBLEMS[code]
  return {
    ...{ type: typeOf(code), title, status, code, detail, thing, rule },
    ...(finding !== undefined && { finding }),
    ...(at !== undefined && { at }),
  }
}

export const hasProblem = (error: HeadgateError): error is HeadgateError<ProblemCode> =>
  Object.hasOwn(PROBLEMS, error.code)

/** A mistake in a request that no pillar had to look at. */
export const httpMistake = (mistake: Mistake<HttpErrorCode>): HeadgateError<HttpErrorCode> =>
  new HeadgateError(mistake)

/** Registered by draft-ietf-httpapi-ratelimit-headers; clients may act on it without knowing us. */
const QUOTA_TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
const CAPACITY_TYPE = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity'

function typeOf(code: ProblemCode): string {
  switch (code) {
    case 'QUOTA_EXCEEDED':
      return QUOTA_TYPE
    case 'STORE_UNAVAILABLE':
    case 'STORE_CONTENDED':
    case 'STORE_CLOSED':
    case 'STORE_FENCED':
    case 'CLOCK_UNTRUSTED':
    case 'OVERLOADED':
      return CAPACITY_TYPE
    default:
      return `urn:headgate:problem:${code}`
  }
}

interface Row {
  readonly status: number
  readonly title: string
}

const row = (status: number, title: string): Row => ({ status, title })

export const PROBLEMS: Readonly<Record<ProblemCode, Row>> = {
  NOT_FOUND: row(404, 'There is nothing at this path'),
  METHOD_NOT_ALLOWED: row(405, 'The path has no such method'),
  URL_INVALID: row(400, 'The URL cannot be read'),
  URL_TOO_LONG: row(414, 'The URL is too long'),
  QUERY_INVALID: row(400, 'The query is not as described'),
  BODY_INVALID: row(400, 'The body is not as described'),
  BODY_NOT_JSON: row(400, 'The body is not JSON'),
  BODY_TOO_LARGE: row(413, 'The body is too large'),
  CONTENT_TYPE_UNSUPPORTED: row(415, 'The body must be application/json'),
  TOKEN_MISSING: row(401, 'A token is needed'),
  TOKEN_UNKNOWN: row(401, 'The token is not known'),
  SCOPE_MISSING: row(403, 'The token may not do this'),
  HOST_NOT_ALLOWED: row(403, 'Only this machine may ask'),
  ORIGIN_NOT_ALLOWED: row(403, 'Other web pages may not ask'),
  REQUEST_MALFORMED: row(400, 'The request is not HTTP'),
  REQUEST_TIMEOUT: row(408, 'The request came too slowly'),
  HEADERS_TOO_LARGE: row(431, 'The headers are too large'),
  QUOTA_EXCEEDED: row(429, 'The limit is reached'),
  SUBJECT_BLOCKED: row(403, 'A subject of the request is blocked'),
  GATE_MISCONFIGURED: row(500, 'The proxy asks the gate wrongly'),
  SUBJECTS_OFF: row(404, 'Subjects are not administered here'),
  SUBJECTS_UNSUPPORTED: row(400, 'Subjects are not administered here'),
  SUBJECT_INVALID: row(400, 'The subject cannot be one'),
  SUBJECTS_TOO_MANY: row(400, 'There are too many subjects'),
  OVERLOADED: row(503, 'The server has more to do than it can'),
  INTERNAL: row(500, 'Headgate made a mistake'),
  CHARGES_MISSING: row(400, 'There is nothing to charge'),
  CHARGES_TOO_MANY: row(400, 'There are too many charges'),
  COST_INVALID: row(400, 'The cost is not a whole number'),
  COST_ABOVE_BURST: row(400, 'The cost can never be allowed'),
  MODE_UNSUPPORTED: row(400, 'The mode does not fit the verb'),
  BUCKET_TWICE: row(400, 'A bucket is charged twice'),
  DURATION_INVALID: row(400, 'The length of time cannot be read'),
  LIMIT_KIND: row(400, 'The limit is of another kind'),
  LIMIT_UNKNOWN: row(400, 'The limit is not known'),
  LIMIT_NAME_INVALID: row(400, 'The name cannot name a limit'),
  LIMIT_DUPLICATE: row(400, 'The limit is given twice'),
  LIMIT_TOO_FAST: row(400, 'The rate is too fast'),
  LIMIT_TOO_LARGE: row(400, 'The limit is too large'),
  ID_INVALID: row(400, 'The id does not have the form that its limit asks'),
  ID_MISSING: row(400, 'The id is missing'),
  ID_DUPLICATE: row(400, 'The id is given twice'),
  OVERRIDES_TOO_MANY: row(400, 'There are too many overrides'),
  PARTS_MISSING: row(400, 'A part is missing'),
  PARTS_INVALID: row(400, 'A part cannot be read'),
  PARTS_UNSUPPORTED: row(400, 'The limit has no use for the part'),
  PARTS_WITH_ID: row(400, 'There is both an id and parts'),
  OPERATION_ID_INVALID: row(400, 'The operation id cannot be used'),
  OPERATION_ID_REUSED: row(409, 'The operation id was used for another question'),
  OPERATION_UNKNOWN: row(404, 'The operation is not known'),
  OPERATION_CHARGES: row(400, 'The operation did not charge this'),
  SPENDING_OFF: row(404, 'Spending is not configured here'),
  QUEUE_OFF: row(400, 'There is no queue'),
  QUEUE_FULL: row(503, 'The queue is full'),
  QUEUE_ITEM_TOO_LARGE: row(400, 'The expense is too large for the queue'),
  QUEUE_CLOSED: row(503, 'The queue is closed'),
  QUEUE_IN_USE: row(503, 'Another process has the queue'),
  QUEUE_UNAVAILABLE: row(503, 'The queue cannot be written'),
  AMOUNT_INVALID: row(400, 'The amount is not one'),
  ADDRESS_INVALID: row(400, 'The address is not one'),
  IP_INVALID: row(400, 'The IP address is not one'),
  OPERATION_INVALID: row(400, 'The operation cannot be named so'),
  NOTE_INVALID: row(400, 'A note cannot be kept'),
  PAYER_INVALID: row(400, 'The payer cannot be named so'),
  WINDOW_INVALID: row(400, 'The window is not one'),
  ROLLOVER_INVALID: row(400, 'The rollover is not a share'),
  HOLD_NOT_FOUND: row(404, 'The hold is not known'),
  HOLD_CLOSED: row(409, 'The hold has ended'),
  HOLD_LIFETIME_INVALID: row(400, 'A hold does not last so long'),
  HOLDS_ASK_INVALID: row(400, 'Holds are not listed so'),
  HISTORY_ASK_INVALID: row(400, 'A history is not paged so'),
  HOLD_CONFLICT: row(409, 'The operation id was used for another hold'),
  SETTLEMENT_CONFLICT: row(409, 'The hold was settled at another amount'),
  BOOKING_NOT_FOUND: row(404, 'The booking is not known'),
  REVERSAL_INVALID: row(409, 'There is less left of the booking'),
  PLAN_NOT_FOUND: row(404, 'The plan is not known'),
  PLAN_EXISTS: row(409, 'The plan is there already'),
  PLAN_IN_FILE: row(409, 'The plan is configured by a file'),
  PLAN_IMPLICIT: row(409, 'The plan was not created'),
  PLAN_RETIRED: row(409, 'The plan is retired'),
  PLAN_CHANGE_EMPTY: row(400, 'The change changes nothing'),
  LINK_INVALID: row(400, 'The link names no caller'),
  LINK_IN_FILE: row(409, 'The file links it'),
  LINK_TAKEN: row(409, 'It is linked to another plan'),
  LINK_NOT_FOUND: row(404, 'It is not linked to the plan'),
  GRANT_INVALID: row(400, 'The grant is not one'),
  GRANT_NOT_FOUND: row(404, 'The grant is not known'),
  GRANTS_TOO_MANY: row(409, 'The plan has too many grants'),
  COMPACTION_TOO_SOON: row(500, 'The policy of compaction is too short'),
  CONFIG_MISSING: row(400, 'The file of plans cannot be read'),
  CONFIG_NOT_JSON: row(400, 'The file of plans is not JSON'),
  CONFIG_NOT_ARRAY: row(400, 'The file of plans is not a list'),
  CONFIG_TOO_MANY_PLANS: row(400, 'There are too many plans'),
  PLAN_NOT_OBJECT: row(400, 'The plan is not an object'),
  PLAN_FIELD_UNKNOWN: row(400, 'The plan has an unknown field'),
  PLAN_FIELD_CONFLICT: row(400, 'Two fields of the plan contradict each other'),
  PLAN_FIELD_INVALID: row(400, 'A field of the plan cannot be read'),
  PLAN_ID_MISSING: row(400, 'The plan has no id'),
  PLAN_ID_INVALID: row(400, 'The id cannot name a plan'),
  PLAN_ID_DUPLICATE: row(400, 'Two plans have one id'),
  PLAN_TYPE_MISSING: row(400, 'The plan has no tier'),
  PLAN_TYPE_INVALID: row(400, 'The tier is not known'),
  PLAN_NO_ADDRESSES: row(400, 'The plan pays for no one'),
  PLAN_ADDRESS_INVALID: row(400, 'An address of the plan is not one'),
  PLAN_ADDRESS_DUPLICATE: row(400, 'An address is in two plans'),
  STORE_UNAVAILABLE: row(503, 'The store does not answer'),
  STORE_CONTENDED: row(503, 'The store is too busy'),
  STORE_CLOSED: row(503, 'The store is closed'),
  STORE_FENCED: row(503, 'The store is fenced'),
  CLOCK_UNTRUSTED: row(503, 'The clock is not trusted'),
}
