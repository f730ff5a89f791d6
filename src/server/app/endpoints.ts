/**
 * The HTTP API, operation by operation: its method and path, what it takes and what it answers.
 *
 * Types come from the schemas, which are loaded only by the HTTP server: TypeBox alone takes longer
 * to load than a command takes to answer. So a command can ask a server by this table, or call the
 * same handlers in its own process.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Clock } from '../../core/time.ts'
import type { REQUEST_SCHEMAS } from '../requests/schema.ts'
import type { PLAN_SCHEMAS } from '../spending/plan-schema.ts'
import type { SPENDING_SCHEMAS } from '../spending/schema.ts'
import type { SUBJECT_SCHEMAS } from '../subjects/schema.ts'
import type { Access } from './access.ts'
import { MAX_PLANS_BYTES } from './bounds.ts'
import type { Headgate } from './headgate.ts'
import type { Problem, ProblemCode } from './problems.ts'

/** By operation id, as in OpenAPI. */
export type ApiSchemas = typeof REQUEST_SCHEMAS &
  typeof SPENDING_SCHEMAS &
  typeof PLAN_SCHEMAS &
  typeof SUBJECT_SCHEMAS

export type ApiOperation = keyof ApiSchemas
export type RequestOperation = keyof typeof REQUEST_SCHEMAS
export type SubjectOperation = keyof typeof SUBJECT_SCHEMAS
export type SpendingOperation = keyof typeof SPENDING_SCHEMAS | keyof typeof PLAN_SCHEMAS

/** One interface with two faces: handlers in this process, or a server over HTTP. */
export interface Api<Names extends ApiOperation> {
  ask<Name extends Names>(name: Name, input: ApiInput<Name>): Promise<ApiOutput<Name>>
}

export interface OpenApi<Names extends ApiOperation> extends Api<Names> {
  close(): Promise<void>
}

/** Path, query and body in one object: no two of them have a field of the same name. */
export type ApiInput<Name extends ApiOperation> = Part<ApiSchemas[Name], 'params'> &
  Part<ApiSchemas[Name], 'querystring'> &
  Part<ApiSchemas[Name], 'body'>

type Part<Schema, Name extends string> =
  Schema extends Record<Name, infer Found extends TSchema> ? Static<Found> : object

/** The body of a 200, or of a 202. */
export type ApiOutput<Name extends ApiOperation> = Answered<ApiSchemas[Name]['response']>

type Answered<Responses> = {
  [Status in keyof Responses]: Responses[Status] extends TSchema ? Static<Responses[Status]> : never
}[keyof Responses]

/** What a handler has at hand. */
export interface ApiCall {
  readonly headgate: OpenPillars
  /** For sentences that name a time. Decisions take theirs from the store. */
  readonly now: Clock
  readonly access: Access
  /** Where status and headers go; a call within this process has no use for them. */
  readonly reply: ReplyHead
  /** For operations that answer several questions, of which one may fail. */
  problemOf(error: unknown): Problem
}

type OpenPillars = Pick<Headgate, 'settings' | 'catalog' | 'limiter' | 'spending' | 'subjects'>

/** The part of a Fastify reply that handlers use. */
export interface ReplyHead {
  header(name: string, value: string): unknown
  code(status: number): unknown
}

type ApiHandler<Name extends ApiOperation> = (
  call: ApiCall,
  input: ApiInput<Name>,
) => Promise<ApiOutput<Name>>

export type ApiHandlers<Names extends ApiOperation> = {
  readonly [Name in Names]: ApiHandler<Name>
}

interface ApiEndpoint<Name extends ApiOperation> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Fields that every answer has: one without them is from another program. */
  readonly answers: readonly (keyof ApiOutput<Name>)[]
  /** Needs the scope admin; the words name it in the refusal. */
  readonly admin?: string
  /** A mistake with this code is a path that leads nowhere: 404 here. */
  readonly notFound?: ProblemCode
  readonly bodyLimit?: number
  /** Reads the whole ledger, which may take minutes. */
  readonly slow?: true
  /** Answers text of any length, as a stream. */
  readonly stream?: true
}

const get = (path: string) => ({ method: 'GET' as const, path })
const post = (path: string) => ({ method: 'POST' as const, path })

const DECISION = { answers: ['allowed', 'charges'] } as const
const LIMIT = { notFound: 'LIMIT_UNKNOWN' } as const
const ADMISSION = { answers: ['allowed', 'plan'] } as const
const BOOKING = { answers: [] } as const
const PLAN = { answers: ['id', 'tier', 'active'] } as const

/** Every operation but those that answer by status (the gate) or in another format (UCAN, health). */
export const ENDPOINTS: { readonly [Name in ApiOperation]: ApiEndpoint<Name> } = {
  spend: { ...post('/v1/spend'), ...DECISION },
  check: { ...post('/v1/check'), ...DECISION },
  refund: { ...post('/v1/refund'), ...DECISION },
  reset: { ...post('/v1/reset'), ...DECISION },
  batch: { ...post('/v1/batch'), answers: ['answers'] },
  acquire: { ...post('/v1/acquire'), answers: ['allowed', 'remaining'] },
  release: { ...post('/v1/release'), answers: ['released'] },
  listLimits: { ...get('/v1/limits'), answers: ['limits'] },
  showLimit: { ...get('/v1/limits/:name'), ...LIMIT, answers: ['name', 'idFormat'] },
  showLimitInForce: { ...get('/v1/limits/:name/:id'), ...LIMIT, answers: ['limit', 'remaining'] },

  checkSpending: { ...post('/v1/spending/check'), ...ADMISSION },
  holdSpending: { ...post('/v1/spending/hold'), ...ADMISSION },
  extendSpending: { ...post('/v1/spending/extend'), ...ADMISSION },
  captureSpending: { ...post('/v1/spending/capture'), ...BOOKING },
  settleSpending: { ...post('/v1/spending/settle'), ...BOOKING },
  releaseSpending: { ...post('/v1/spending/release'), ...BOOKING },
  recordSpending: { ...post('/v1/spending/record'), ...BOOKING },
  reverseSpending: {
    ...post('/v1/spending/reverse'),
    answers: ['reversed', 'left'],
    admin: 'a reversal',
  },
  listHolds: {
    ...get('/v1/spending/holds'),
    answers: ['holds'],
    admin: 'a list of holds',
  },
  reportSpending: { ...get('/v1/spending/report'), answers: ['window', 'total', 'unit'] },
  verifySpending: {
    ...get('/v1/spending/verify'),
    answers: ['agrees', 'findings'],
    admin: 'a verification',
    slow: true,
  },
  exportLedger: {
    ...get('/v1/spending/ledger'),
    answers: [],
    admin: 'an export of the ledger',
    stream: true,
  },
  pushBalance: {
    ...post('/v1/spending/balance'),
    answers: ['amount', 'at'],
    admin: 'a reading of the balance',
  },
  openWindow: {
    ...post('/v1/spending/window'),
    answers: ['startsAt', 'endsAt'],
    admin: 'opening a window',
  },
  repairClock: {
    ...post('/v1/spending/clock/repair'),
    answers: ['repaired', 'now'],
    admin: 'accepting the clock',
  },

  listPlans: { ...get('/v1/plans'), answers: ['plans'] },
  showPlan: { ...get('/v1/plans/:id'), answers: ['id', 'remaining', 'addresses'] },
  planHistory: { ...get('/v1/plans/:id/history'), answers: ['entries'] },
  diffPlans: {
    ...post('/v1/spending/diff'),
    answers: ['added', 'changes'],
    bodyLimit: MAX_PLANS_BYTES,
  },
  createPlan: { ...post('/v1/plans'), ...PLAN, admin: 'creating a plan' },
  activatePlan: { ...post('/v1/plans/:id/activate'), ...PLAN, admin: 'switching a plan' },
  deactivatePlan: { ...post('/v1/plans/:id/deactivate'), ...PLAN, admin: 'switching a plan' },
  linkPlan: { ...post('/v1/plans/:id/link'), ...PLAN, admin: 'linking to a plan' },
  unlinkPlan: { ...post('/v1/plans/:id/unlink'), ...PLAN, admin: 'linking to a plan' },
  changePlan: { ...post('/v1/plans/:id/change'), ...PLAN, admin: 'changing a plan' },
  retirePlan: { ...post('/v1/plans/:id/retire'), ...PLAN, admin: 'retiring a plan' },
  grantPlan: { ...post('/v1/plans/:id/grant'), answers: ['grantId', 'plan'], admin: 'a grant' },
  listGrants: { ...get('/v1/plans/:id/grants'), answers: ['grants'] },
  voidGrant: {
    ...post('/v1/plans/:id/void'),
    answers: ['voided', 'plan'],
    admin: 'voiding a grant',
  },

  showSubject: { ...get('/v1/subjects/:subject'), answers: ['subject', 'rates'] },
}

/** Fastify, with handlers typed by their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What routes share that are written for HTTP alone. */
export interface HttpContext extends Pick<ApiCall, 'now'> {
  readonly headgate: Headgate
  /** True from the start of a shutdown. */
  closing(): boolean
}
