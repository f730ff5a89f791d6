/** What a refused request is answered: problem details (RFC 9457) unless the options say otherwise. */
import type { StoreErrorCode } from '../core/errors.ts'
import { toMillis } from '../core/time.ts'
import type { Answer } from '../requests/limiter/charge.ts'
import type { HeaderLine } from './header-forms.ts'

type RefusalCode = 'QUOTA_EXCEEDED' | 'COST_ABOVE_BURST'

/** What a function that words refusals may look at. */
export interface RefusedRequest<Ask> {
  readonly request: Ask
  /** `STORE_…`: the store is down and the limits are closed. */
  readonly code: RefusalCode | StoreErrorCode
  /** Unless the function says otherwise. */
  readonly status: number
  /** Absent if the limiter could not answer. */
  readonly answer: Answer | undefined
  /** Null: no waiting helps. */
  readonly retryAfterSeconds: number | null
}

export interface RefusalOptions {
  readonly status?: number
  /** Text goes out as it is; anything else as JSON. */
  readonly body?: string | object
  readonly headers?: Readonly<Record<string, string>>
}

/** As it goes out. */
export interface RefusalReply {
  readonly status: number
  readonly lines: readonly HeaderLine[]
  readonly body: string
}

/** Long enough for a lock to be let go; a store that is gone is gone for longer, and asking costs little. */
export const STORE_RETRY_SECONDS = 1

export const refusalReply = (
  refused: RefusedRequest<unknown>,
  { status = refused.status, body = problemOf(refused, status), headers = {} }: RefusalOptions,
  rateLines: readonly HeaderLine[],
): RefusalReply => {
  const own = Object.entries(headers).map(([name, value]) => ({ name, value }))
  const typed = own.some(({ name }) => name.toLowerCase() === 'content-type')
  const type = { name: 'Content-Type', value: contentTypeOf(body) }
  return {
    status,
    lines: [...rateLines, ...(typed ? [] : [type]), ...own],
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

function contentTypeOf(body: string | object): string {
  if (typeof body === 'string') return 'text/plain; charset=utf-8'
  return 'type' in body && 'title' in body ? 'application/problem+json' : 'application/json'
}

/** Registered by draft-ietf-httpapi-ratelimit-headers; clients may act on them without knowing us. */
const QUOTA_TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
const CAPACITY_TYPE = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity'

function problemOf(
  { code, answer, retryAfterSeconds }: RefusedRequest<unknown>,
  status: number,
): object {
  const problem = (type: string, title: string, detail: string) => ({
    type,
    title,
    status,
    code,
    detail,
  })
  switch (code) {
    case 'QUOTA_EXCEEDED': {
      const violated = answer?.violated ?? []
      const wait = retryAfterSeconds === null ? '' : `; try again in ${retryAfterSeconds} s`
      const retryIn = answer?.retryIn ?? 'never'
      return {
        ...problem(QUOTA_TYPE, 'The limit is reached', `${violated.join(', ')}: is used up${wait}`),
        'violated-policies': violated,
        retryAfterMs: retryIn === 'never' ? null : toMillis(retryIn),
      }
    }
    case 'COST_ABOVE_BURST': {
      const type = 'urn:headgate:problem:COST_ABOVE_BURST'
      const title = 'The cost can never be allowed'
      return problem(type, title, 'the request asks for more than the limit ever allows at once')
    }
    case 'STORE_UNAVAILABLE':
    case 'STORE_CONTENDED':
    case 'STORE_CLOSED':
    case 'STORE_FENCED':
    case 'CLOCK_UNTRUSTED':
      return problem(
        CAPACITY_TYPE,
        'The limits cannot be checked',
        'the store of the limits does not answer; try again later',
      )
    default:
      return code satisfies never
  }
}
