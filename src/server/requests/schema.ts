/** Decisions and limits on the wire, as JSON Schema: it checks requests, and describes them in OpenAPI. */
import { type Static, Type } from 'typebox'
import { MAX_OPERATION_ID } from '../../core/once.ts'
import { type AskMode, MAX_CHARGES, type Reason } from '../../requests/limiter/charge.ts'
import type { LimiterVerb } from '../../requests/limiter/verbs.ts'
import {
  MAX_CHARGE_SUBJECTS,
  MAX_DURATION_LENGTH,
  MAX_ID_LENGTH,
  MAX_LIMIT_NAME_LENGTH,
  MAX_QUESTIONS,
  MAX_SUBJECT_LENGTH,
} from '../app/bounds.ts'
import { ProblemSchema } from '../app/problem-schema.ts'
import type { Problem } from '../app/problems.ts'

/** An unknown field is a mistake: a misspelt `cost` must not charge 1. */
export const CLOSED_OBJECT = { additionalProperties: false } as const

const Identifier = Type.Object(
  {
    type: Type.Enum(['dns', 'ip']),
    value: Type.String({ maxLength: MAX_ID_LENGTH }),
  },
  CLOSED_OBJECT,
)

const Parts = Type.Object(
  {
    regId: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'integer'],
        description: 'The account. As text where it may exceed 2^53.',
      }),
    ),
    ip: Type.Optional(Type.String({ description: 'The address of the client.' })),
    identifier: Type.Optional(Identifier),
    identifiers: Type.Optional(Type.Array(Identifier)),
  },
  { ...CLOSED_OBJECT, description: 'Parts of a request to build the id from, instead of `id`.' },
)

const MODES = ['spend', 'check', 'try'] as const satisfies readonly AskMode[]

export const CHARGE_FIELDS = {
  limit: Type.String({ maxLength: MAX_LIMIT_NAME_LENGTH, description: 'The name of a limit.' }),
  id: Type.Optional(
    Type.String({ maxLength: MAX_ID_LENGTH, description: 'Who or what is counted.' }),
  ),
  parts: Type.Optional(Parts),
  cost: Type.Optional(Type.Integer({ minimum: 0, description: 'Tokens; 1 by default.' })),
  mode: Type.Optional(
    Type.Enum(MODES, {
      description:
        'In a spend: spend by default; check charges nothing; try is charged if it fits and never refuses the rest.',
    }),
  ),
  subjects: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_SUBJECT_LENGTH }), {
      maxItems: MAX_CHARGE_SUBJECTS,
      description:
        'Whom it concerns: addresses, e-mail addresses, domains, URLs, DIDs. A block on any of them refuses the whole question.',
    }),
  ),
} as const

const Charge = Type.Object(CHARGE_FIELDS, CLOSED_OBJECT)

/** One charge at the top level, or several under `charges`: code tells them apart, with better messages. */
const QUESTION = {
  ...CHARGE_FIELDS,
  limit: Type.Optional(CHARGE_FIELDS.limit),
  charges: Type.Optional(
    Type.Array(Charge, {
      maxItems: MAX_CHARGES,
      description: 'Several charges, all or nothing, instead of the fields of one.',
    }),
  ),
} as const

const OPERATION = {
  operationId: Type.Optional(
    Type.String({
      maxLength: MAX_OPERATION_ID,
      description: 'The same id with the same question again changes nothing.',
    }),
  ),
} as const

/** A check changes nothing, so it has no operation to name. */
const Check = Type.Object(QUESTION, CLOSED_OBJECT)
const Change = Type.Object({ ...QUESTION, ...OPERATION }, CLOSED_OBJECT)
export type QuestionBody = Static<typeof Change>

const VERBS = ['spend', 'check', 'refund', 'reset'] as const satisfies readonly LimiterVerb[]

const Batch = Type.Object(
  {
    questions: Type.Array(
      Type.Object(
        {
          verb: Type.Optional(Type.Enum(VERBS, { description: 'spend by default.' })),
          ...QUESTION,
          ...OPERATION,
        },
        CLOSED_OBJECT,
      ),
      { minItems: 1, maxItems: MAX_QUESTIONS },
    ),
  },
  CLOSED_OBJECT,
)

const Acquire = Type.Object(
  {
    limit: CHARGE_FIELDS.limit,
    id: CHARGE_FIELDS.id,
    parts: CHARGE_FIELDS.parts,
    operationId: Type.Optional(
      Type.String({
        maxLength: MAX_OPERATION_ID,
        description: 'Names the place; the same id again gets the place that it has.',
      }),
    ),
    heldFor: Type.Optional(
      Type.String({
        maxLength: MAX_DURATION_LENGTH,
        description: 'When the place comes back by itself: 30s. By default as the limit says.',
      }),
    ),
  },
  CLOSED_OBJECT,
)

const Release = Type.Object(
  { placeId: Type.String({ maxLength: MAX_OPERATION_ID, description: 'As acquire answered.' }) },
  CLOSED_OBJECT,
)

/** Undefined fields are left out. */
interface OutlookBody {
  readonly allowed: boolean
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly resetAfterMs: number | null
  readonly reason: Reason | undefined
  readonly message: string | undefined
}

export interface ChargeBody extends OutlookBody {
  readonly limit: string
  readonly id: string
  readonly bucket: string
  readonly source: string
  readonly shadow: true | undefined
}

export interface PlaceBody {
  readonly allowed: boolean
  readonly reason: 'ALL_TAKEN' | 'STORE_UNAVAILABLE' | undefined
  readonly placeId: string | undefined
  readonly expiresAt: string | undefined
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly replayed: true | undefined
}

export interface AnswerBody extends OutlookBody {
  readonly violated: readonly string[] | undefined
  readonly replayed: true | undefined
  readonly charges: readonly ChargeBody[]
}

/** A type list and not a union: the serialiser would validate every member of a union. */
const integerOrNull = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description })

const OUTLOOK = {
  allowed: Type.Boolean(),
  remaining: integerOrNull('Tokens left; null where no limit is in force.'),
  retryAfterMs: integerOrNull('Until the same cost fits; null means never.'),
  resetAfterMs: integerOrNull('Until the bucket is full; null means never.'),
  reason: Type.Optional(
    Type.String({
      description:
        'Of a refusal: RATE_LIMIT, BLOCKED (a subject is), or NOTHING_TO_RETURN for a refund that found nothing to give back. Of an allowance: DISABLED (no limit in force) or STORE_UNAVAILABLE.',
    }),
  ),
  message: Type.Optional(Type.String({ description: 'A refusal in words for a subscriber.' })),
} as const

const AnsweredCharge = Type.Object({
  limit: Type.String(),
  id: Type.String({ description: 'In its canonical form.' }),
  bucket: Type.String(),
  ...OUTLOOK,
  source: Type.String({ description: 'Where the limit comes from: default, override, disabled.' }),
  shadow: Type.Optional(
    Type.Boolean({ description: 'The limit is a shadow: whatever it says, it refused nothing.' }),
  ),
})

const ANSWER = {
  ...OUTLOOK,
  violated: Type.Optional(
    Type.Array(Type.String(), { description: 'Every limit that refused, not only the strictest.' }),
  ),
  replayed: Type.Optional(
    Type.Boolean({
      description: 'The remembered answer to an earlier call with this operationId.',
    }),
  ),
  charges: Type.Array(AnsweredCharge, { description: 'One for each charge, in order.' }),
} as const

const Answer = Type.Unsafe<AnswerBody>(
  Type.Object(ANSWER, { description: 'A decision. A refusal is an answer like any other: 200.' }),
)

export type BatchAnswer = AnswerBody | { readonly error: Problem }

/** One object with all optional, not a union: see above. */
const OneAnswer = Type.Unsafe<BatchAnswer>(
  Type.Partial(Type.Object({ ...ANSWER, error: ProblemSchema }), {
    description: 'Either an answer or an `error`.',
  }),
)

const PlaceAnswer = Type.Unsafe<PlaceBody>(
  Type.Object(
    {
      allowed: Type.Boolean(),
      reason: Type.Optional(
        Type.String({
          description:
            'Of a refusal: ALL_TAKEN. Of an allowance without a place: STORE_UNAVAILABLE.',
        }),
      ),
      placeId: Type.Optional(Type.String({ description: 'Names the place when it is released.' })),
      expiresAt: Type.Optional(
        Type.String({ description: 'When it comes back by itself, in ISO 8601.' }),
      ),
      remaining: integerOrNull('Places still free; null where that is not known.'),
      retryAfterMs: integerOrNull('Until a place is free at the latest; null means never.'),
      replayed: Type.Optional(Type.Boolean({ description: 'This operationId had it already.' })),
    },
    { description: 'A place, or a refusal: 200 as well.' },
  ),
)

const Released = Type.Object({
  released: Type.Boolean({
    description: 'False: it was released before, or its time had run out.',
  }),
})

const BatchAnswers = Type.Object({ answers: Type.Array(OneAnswer) })

const Rate = Type.Object({
  burst: Type.Integer(),
  count: Type.Integer(),
  period: Type.String({ description: 'As in headgate.yml: 3h0m0s.' }),
})

const Places = Type.Object(
  { atOnce: Type.Integer(), heldFor: Type.String() },
  { description: 'Instead of a rate: how many may hold a place at once.' },
)

const Limit = Type.Object({
  name: Type.String(),
  number: Type.Optional(Type.Integer({ description: 'Of a built-in limit: begins its buckets.' })),
  idFormat: Type.String(),
  ipv6Prefix: Type.Optional(
    Type.Integer({ description: 'Of clients: the bits of IPv6 that tell them apart, if not 64.' }),
  ),
  onStoreFailure: Type.String(),
  default: Type.Optional(Rate),
  places: Type.Optional(Places),
  shadow: Type.Optional(Type.Boolean({ description: 'Decides and counts, and refuses nothing.' })),
  overrides: Type.Integer({ description: 'How many ids have their own.' }),
})

const LimitsPage = Type.Object({
  limits: Type.Array(Limit),
  next: Type.Optional(Type.String({ description: 'Ask for the next page with after=this.' })),
})

const InForce = Type.Object({
  limit: Limit,
  id: Type.String(),
  bucket: Type.String(),
  source: Type.String({ description: 'default, override or disabled.' }),
  override: Type.Optional(Type.Object({ id: Type.String(), comment: Type.String() })),
  inForce: Type.Optional(Rate),
  ...OUTLOOK,
})

export const DECISIONS = { tags: ['decisions'] }
const LIMITS = { tags: ['limits'] }

/** By operation id. */
export const REQUEST_SCHEMAS = {
  spend: {
    ...DECISIONS,
    summary: 'Charge, all or nothing',
    description: 'A refusal charges nothing and is answered 200 with "allowed": false.',
    body: Change,
    response: { 200: Answer },
  },
  check: {
    ...DECISIONS,
    summary: 'Ask what a spend would answer',
    description: 'Charges nothing, writes nothing, and promises nothing about the next call.',
    body: Check,
    response: { 200: Answer },
  },
  refund: {
    ...DECISIONS,
    summary: 'Give back',
    description:
      'With operationId: what the spend of that id charged, less what time forgave. Without: the charges named, which needs the scope admin.',
    body: Change,
    response: { 200: Answer },
  },
  reset: {
    ...DECISIONS,
    summary: 'Fill buckets again',
    description: 'Whatever was charged. Needs the scope admin.',
    body: Change,
    response: { 200: Answer },
  },
  batch: {
    ...DECISIONS,
    summary: 'Ask many independent questions',
    description:
      'Each is answered for itself, in order; a mistake in one is an error in its place and no other. For charges that belong together use "charges".',
    body: Batch,
    response: { 200: BatchAnswers },
  },
  acquire: {
    ...DECISIONS,
    summary: 'Take a place',
    description:
      'Of a limit with atOnce. Release it when the work is done; a place that is not released comes back at expiresAt.',
    body: Acquire,
    response: { 200: PlaceAnswer },
  },
  release: {
    ...DECISIONS,
    summary: 'Give a place back',
    description: 'With the token that acquired it.',
    body: Release,
    response: { 200: Released },
  },
  listLimits: {
    ...LIMITS,
    summary: 'Every known limit, by name',
    querystring: Type.Object(
      { after: Type.Optional(Type.String({ maxLength: MAX_LIMIT_NAME_LENGTH })) },
      CLOSED_OBJECT,
    ),
    response: { 200: LimitsPage },
  },
  showLimit: {
    ...LIMITS,
    summary: 'One limit',
    params: Type.Object({ name: Type.String() }),
    response: { 200: Limit },
  },
  showLimitInForce: {
    ...LIMITS,
    summary: 'The limit in force for an id, and what is left',
    description: 'Charges nothing. The id is percent-encoded.',
    params: Type.Object({ name: Type.String(), id: Type.String() }),
    response: { 200: InForce },
  },
}
