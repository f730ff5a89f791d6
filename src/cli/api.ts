/** The answers of the HTTP API, as far as commands read them. `--json` prints the bodies whole. */
import { HeadgateError, type Position } from '../core/index.ts'
import { refuseCall } from './cli-mistake.ts'

export interface OutlookBody {
  readonly allowed: boolean
  /** Null: nothing limits. */
  readonly remaining: number | null
  /** Null: no waiting helps. */
  readonly retryAfterMs: number | null
  readonly resetAfterMs: number | null
  readonly reason?: string
  readonly message?: string
}

export interface AnswerBody extends OutlookBody {
  readonly replayed?: boolean
  readonly charges: readonly (OutlookBody & { readonly limit: string; readonly id: string })[]
}

export interface RateBody {
  readonly burst: number
  readonly count: number
  readonly period: string
}

export interface LimitBody {
  readonly name: string
  readonly idFormat: string
  readonly onStoreFailure: string
  readonly default?: RateBody
  /** How many ids have their own. */
  readonly overrides: number
}

export interface LimitsPage {
  readonly limits: readonly LimitBody[]
  /** Where the next page begins; absent on the last. */
  readonly next?: string
}

export interface StandingBody extends OutlookBody {
  readonly limit: LimitBody
  readonly id: string
  readonly bucket: string
  readonly source: string
  readonly override?: { readonly id: string; readonly comment: string }
  readonly inForce?: RateBody
}

export interface Reply {
  readonly status: number
  readonly text: string
}

/** A body that holds the fields named, or the mistake that the server answered instead. */
export const readReply = <Body extends object>(
  { status, text }: Reply,
  fields: readonly (keyof Body)[],
): Body => {
  const body = parse(text)
  if (status === 200 && holds(body, fields)) return body
  const { code, thing, rule, finding, at } = body
  if (isText(code) && isText(thing) && isText(rule)) {
    const found = isText(finding) ? finding : undefined
    throw new HeadgateError({ code, thing, rule, finding: found, at: placeIn(at) })
  }
  const found = `status ${status}`
  return refuseCall({
    code: 'SERVER_ANSWER_INVALID',
    thing: 'the server',
    rule: RULE,
    finding: found,
  })
}

const RULE = 'must be a Headgate server of this version'

/** The server's schema says the rest; fields that are absent are the sign of another server. */
const holds = <Body extends object>(body: object, fields: readonly (keyof Body)[]): body is Body =>
  fields.every((field) => Object.hasOwn(body, field))

function placeIn(at: unknown): Position | undefined {
  if (typeof at !== 'object' || at === null) return undefined
  const { file, line, column }: Partial<Record<keyof Position, unknown>> = at
  const isPlace = isText(file) && typeof line === 'number' && typeof column === 'number'
  return isPlace ? { file, line, column } : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
