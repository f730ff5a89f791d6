/** Spending on the wire, as JSON Schema: what may be asked, and what is answered. */
import { Type } from 'typebox'
import { MAX_SPENDING_TEXT } from './bounds.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'

const CLOSED = { additionalProperties: false } as const

const text = (description: string) => Type.String({ maxLength: MAX_SPENDING_TEXT, description })

/** Numbers are let in so that the reader of amounts can say what is wrong with one. */
export const Amount = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  description:
    'Of the smallest unit, as decimal text. A whole JSON number up to 2^53 is taken too; signs, fractions and exponents are not.',
})

const PURPOSE = {
  from: Type.Optional(text('The address that the money is spent for: 0x and hexadecimal digits.')),
  ip: Type.Optional(text('The IP address of the client.')),
  operation: Type.Optional(text('What is paid for, for example FileAppendTransaction.')),
  mode: Type.Optional(
    Type.Enum(['TRANSACTION', 'QUERY', 'RECORD'], {
      description: 'How the money leaves; TRANSACTION unless told.',
    }),
  ),
} as const

const NOTE = {
  transactionId: Type.Optional(text('Kept in the ledger.')),
  caller: Type.Optional(text('Kept in the ledger.')),
  interactingEntity: Type.Optional(text('Kept in the ledger.')),
  requestId: Type.Optional(text('Kept in the ledger.')),
} as const

const OPERATION = {
  operationId: Type.Optional(text('The same id with the same question again changes nothing.')),
} as const

const HOLD = { holdId: text('From the answer to the hold.') } as const

const LATER = {
  queue: Type.Optional(
    Type.Boolean({ description: 'Do not wait: answer 202 when it is on the disk of the server.' }),
  ),
} as const

const ESTIMATE = { estimate: Type.Optional(Amount) } as const

export const CheckBody = Type.Object({ ...PURPOSE, ...ESTIMATE }, CLOSED)
export const HoldBody = Type.Object({ ...PURPOSE, ...ESTIMATE, ...OPERATION, ...NOTE }, CLOSED)
export const RecordBody = Type.Object(
  { ...PURPOSE, amount: Amount, ...OPERATION, ...NOTE, ...LATER },
  CLOSED,
)
export const CaptureBody = Type.Object(
  { ...HOLD, amount: Amount, ...OPERATION, ...NOTE, ...LATER },
  CLOSED,
)
export const SettleBody = Type.Object(
  { ...HOLD, amount: Type.Optional(Amount), ...NOTE, ...LATER },
  CLOSED,
)
export const ReleaseBody = Type.Object({ ...HOLD, ...NOTE, ...LATER }, CLOSED)

const AMOUNT = Type.String({ description: 'Of the smallest unit.' })

export const STANDING = {
  limit: Type.String({ description: 'An amount, or unlimited.' }),
  spent: AMOUNT,
  held: AMOUNT,
  remaining: Type.String({
    description: 'An amount, below zero where more was recorded than there was, or unlimited.',
  }),
} as const

const orNull = <T extends object>(schema: T) =>
  Type.Unsafe<T | null>({ ...schema, type: ['object', 'null'] })

const Plan = Type.Object({ id: Type.String(), tier: Type.String(), ...STANDING })
const Total = Type.Object(STANDING)
const Window = Type.Object({ startsAt: Type.String(), endsAt: Type.String() })

const STANDINGS = {
  plan: orNull(Plan),
  total: orNull(Total),
  window: orNull(Window),
} as const

const OUTCOME = {
  allowed: Type.Boolean(),
  reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Of a refusal: that of the first node that does not cover it.',
  }),
  node: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'That node.' }),
  retryAfterMs: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Until it may fit; null where waiting does not help.',
  }),
  duplicate: Type.Optional(Type.Boolean({ description: 'The answer to an earlier call.' })),
} as const

export interface StandingBody {
  readonly limit: string
  readonly spent: string
  readonly held: string
  readonly remaining: string
}

export interface StandingsBody {
  readonly plan: (StandingBody & { readonly id: string; readonly tier: string }) | null
  readonly total: StandingBody | null
  readonly window: { readonly startsAt: string; readonly endsAt: string } | null
}

export interface OutcomeBody extends StandingsBody {
  readonly allowed: boolean
  readonly reason: string | null
  readonly node: string | null
  readonly retryAfterMs: number | null
  readonly duplicate?: true
}

export interface AdmissionBody extends OutcomeBody {
  readonly holdId?: string
  readonly expiresAt?: string
}

export interface BookingBody extends OutcomeBody {
  readonly charged: string
  readonly overage: string
  readonly released: string
  readonly late: boolean
}

const Admission = Type.Unsafe<AdmissionBody>(
  Type.Object(
    {
      ...OUTCOME,
      holdId: Type.Optional(Type.String({ description: 'Of a hold that was granted.' })),
      expiresAt: Type.Optional(Type.String({ description: 'When the hold ends by itself.' })),
      ...STANDINGS,
    },
    { description: 'A refusal is an answer like any other: 200.' },
  ),
)

const Booking = Type.Unsafe<BookingBody>(
  Type.Object({
    ...OUTCOME,
    charged: Type.String({ description: 'What this call charged.' }),
    overage: Type.String({ description: 'How much of it was more than was held.' }),
    released: Type.String({ description: 'What this call gave back of the hold.' }),
    late: Type.Boolean({ description: 'The hold had expired; it is booked in its window.' }),
    ...STANDINGS,
  }),
)

const Queued = Type.Object({
  queued: Type.Boolean(),
  operationId: Type.String({ description: 'It will be booked under this id, once.' }),
})

export const ADMISSION_RESPONSES = { 200: Admission, ...PROBLEM_RESPONSES } as const
export const BOOKING_RESPONSES = { 200: Booking, 202: Queued, ...PROBLEM_RESPONSES } as const
