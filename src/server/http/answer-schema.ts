/** What a decision looks like on the wire, as JSON Schema and as a type. */
import { Type } from 'typebox'
import type { Reason } from '../../requests/index.ts'
import type { Problem } from '../problems.ts'
import { ProblemSchema } from './problem-schema.ts'

/** Undefined fields are left out. */
export interface OutlookBody {
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
}

export interface AnswerBody extends OutlookBody {
  readonly violated: readonly string[] | undefined
  readonly replayed: true | undefined
  readonly charges: readonly ChargeBody[]
}

/** A type list and not a union: the serialiser would validate every member of a union. */
const integerOrNull = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description })

export const OUTLOOK = {
  allowed: Type.Boolean(),
  remaining: integerOrNull('Tokens left; null where no limit is in force.'),
  retryAfterMs: integerOrNull('Until the same cost fits; null means never.'),
  resetAfterMs: integerOrNull('Until the bucket is full; null means never.'),
  reason: Type.Optional(
    Type.String({
      description:
        'Of a refusal: rate, blocked (a subject is), or full for a refund that found nothing to give back. Of an allowance: disabled (no limit in force) or store-unavailable.',
    }),
  ),
  message: Type.Optional(Type.String({ description: 'A refusal in words for a subscriber.' })),
} as const

const Charge = Type.Object({
  limit: Type.String(),
  id: Type.String({ description: 'In its canonical form.' }),
  bucket: Type.String(),
  ...OUTLOOK,
  source: Type.String({ description: 'Where the limit comes from: default, override, disabled.' }),
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
  charges: Type.Array(Charge, { description: 'One for each charge, in order.' }),
} as const

export const AnswerSchema = Type.Unsafe<AnswerBody>(
  Type.Object(ANSWER, { description: 'A decision. A refusal is an answer like any other: 200.' }),
)

export type BatchAnswer = AnswerBody | { readonly error: Problem }

/** One object with all optional, not a union: see above. */
const OneAnswer = Type.Unsafe<BatchAnswer>(
  Type.Partial(Type.Object({ ...ANSWER, error: ProblemSchema }), {
    description: 'Either an answer or an `error`.',
  }),
)

export const BatchAnswerSchema = Type.Object({ answers: Type.Array(OneAnswer) })
