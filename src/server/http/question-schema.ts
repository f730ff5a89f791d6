/** What a caller may ask, as JSON Schema: it checks requests and describes them in OpenAPI. */
import { type Static, Type } from 'typebox'
import { type AskMode, MAX_CHARGES, MAX_OPERATION_ID } from '../../requests/index.ts'
import {
  MAX_ID_LENGTH,
  MAX_LIMIT_NAME_LENGTH,
  MAX_QUESTIONS,
  MAX_SUBJECT_LENGTH,
  MAX_SUBJECTS,
} from './bounds.ts'

/** An unknown field is a mistake: a misspelt `cost` must not charge 1. */
const CLOSED = { additionalProperties: false } as const

const Identifier = Type.Object(
  {
    type: Type.Enum(['dns', 'ip']),
    value: Type.String({ maxLength: MAX_ID_LENGTH }),
  },
  CLOSED,
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
  { ...CLOSED, description: 'Parts of a request to build the id from, instead of `id`.' },
)

const MODES = ['spend', 'check', 'try'] as const satisfies readonly AskMode[]

const CHARGE = {
  limit: Type.String({ maxLength: MAX_LIMIT_NAME_LENGTH, description: 'The name of a limit.' }),
  id: Type.Optional(
    Type.String({ maxLength: MAX_ID_LENGTH, description: 'Who or what is counted.' }),
  ),
  parts: Type.Optional(Parts),
  cost: Type.Optional(Type.Integer({ minimum: 0, description: 'Tokens; 1 unless told.' })),
  mode: Type.Optional(
    Type.Enum(MODES, {
      description:
        'In a spend: spend unless told; check charges nothing; try is charged if it fits and never refuses the rest.',
    }),
  ),
  subjects: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_SUBJECT_LENGTH }), {
      maxItems: MAX_SUBJECTS,
      description:
        'Whom it concerns: addresses, e-mail addresses, domains, URLs, DIDs. A block on any of them refuses the whole question.',
    }),
  ),
} as const

const Charge = Type.Object(CHARGE, CLOSED)

/** One charge in the open, or several under `charges`: told apart by code, whose messages are better. */
const QUESTION = {
  ...CHARGE,
  limit: Type.Optional(CHARGE.limit),
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

export const CheckBody = Type.Object(QUESTION, CLOSED)
export const OperationBody = Type.Object({ ...QUESTION, ...OPERATION }, CLOSED)
export type QuestionBody = Static<typeof OperationBody>

export const VERBS = ['spend', 'check', 'refund', 'reset'] as const
export type Verb = (typeof VERBS)[number]

export const BatchBody = Type.Object(
  {
    questions: Type.Array(
      Type.Object(
        {
          verb: Type.Optional(Type.Enum(VERBS, { description: 'spend unless told.' })),
          ...QUESTION,
          ...OPERATION,
        },
        CLOSED,
      ),
      { minItems: 1, maxItems: MAX_QUESTIONS },
    ),
  },
  CLOSED,
)
