/** Spending on the wire, as JSON Schema: its verbs, its reports and its ledger. Plans are in plan-schema. */
import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { MAX_SPENDING_TEXT } from '../app/bounds.ts'
import { AmountText, CLOSED, OPERATION, STANDING, Timestamp, text } from './schema-parts.ts'

const MATTER = {
  operation: Type.Optional(text('What is paid for, for example FileAppendTransaction.')),
  mode: Type.Optional(
    Type.Enum(['TRANSACTION', 'QUERY', 'RECORD'], {
      description: 'How the money leaves; TRANSACTION by default.',
    }),
  ),
  family: Type.Optional(
    Type.Enum(['ETHEREUM', 'HEDERA'], {
      description: 'For reports; as the name of the operation says by default.',
    }),
  ),
} as const

const PURPOSE = {
  from: Type.Optional(
    text('Whom the money is spent for: a name such as user:42, an address (0x…), or an IP.'),
  ),
  ip: Type.Optional(text('The IP address of the client.')),
  ...MATTER,
} as const

const NOTE = {
  transactionId: Type.Optional(text('Kept in the ledger.')),
  caller: Type.Optional(text('Kept in the ledger.')),
  interactingEntity: Type.Optional(text('Kept in the ledger.')),
  requestId: Type.Optional(text('Kept in the ledger.')),
} as const

const HOLD = { holdId: text('From the answer to the hold.') } as const

const LATER = {
  at: Type.Optional(
    Type.String({
      maxLength: MAX_SPENDING_TEXT,
      description: 'When it was spent, if not now: it is booked in the window of that time.',
    }),
  ),
  queue: Type.Optional(
    Type.Boolean({ description: 'Do not wait: answer 202 when it is on the disk of the server.' }),
  ),
} as const

const ESTIMATE = { estimate: Type.Optional(AmountText) } as const

const Check = Type.Object({ ...PURPOSE, ...ESTIMATE }, CLOSED)
const LIFETIME = {
  holdFor: Type.Optional(text('How long it lasts if nobody ends it, such as 10m; at most 24h.')),
} as const

const Hold = Type.Object({ ...PURPOSE, ...ESTIMATE, ...LIFETIME, ...OPERATION, ...NOTE }, CLOSED)
const Extend = Type.Object({ ...HOLD, ...ESTIMATE, ...LIFETIME, ...OPERATION, ...NOTE }, CLOSED)
const Record = Type.Object(
  { ...PURPOSE, amount: AmountText, ...OPERATION, ...NOTE, ...LATER },
  CLOSED,
)
const Capture = Type.Object(
  { ...HOLD, amount: AmountText, ...MATTER, ...OPERATION, ...NOTE, ...LATER },
  CLOSED,
)
const Settle = Type.Object(
  { ...HOLD, amount: Type.Optional(AmountText), ...NOTE, ...LATER },
  CLOSED,
)
const Release = Type.Object({ ...HOLD, ...NOTE, ...LATER }, CLOSED)

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
    description: 'Of a refusal: that of the first budget that does not cover it.',
  }),
  budget: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'That budget.' }),
  retryAfterMs: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Until it may fit; null where waiting does not help.',
  }),
  replayed: Type.Optional(Type.Boolean({ description: 'The answer to an earlier call.' })),
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

interface OutcomeBody extends StandingsBody {
  readonly allowed: boolean
  readonly reason: string | null
  readonly budget: string | null
  readonly retryAfterMs: number | null
  readonly replayed?: true
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

export interface ReversalBody extends StandingsBody {
  readonly reversed: string
  readonly left: string
  readonly replayed?: true
}

/** An entry of the ledger, with amounts as text and moments in ISO 8601; fields that it lacks are left out. */
export interface LedgerEntryBody {
  readonly seq: number
  readonly at: string
  readonly window: string
  readonly kind: string
  readonly moves: readonly { readonly from: string; readonly to: string; readonly amount: string }[]
  readonly party?: { readonly operation: string } | undefined
  readonly detail?: string | undefined
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
    overage: Type.String({
      description:
        'How much of it was more than was still held; of a record, more than its plan had left.',
    }),
    released: Type.String({ description: 'What this call gave back of the hold.' }),
    late: Type.Boolean({ description: 'The hold had expired; it is booked in its window.' }),
    ...STANDINGS,
  }),
)

const Queued = Type.Object({
  queued: Type.Boolean(),
  operationId: Type.String({ description: 'It will be booked under this id, once.' }),
})

const Sums = Type.Record(Type.String(), Type.String())

const Report = Type.Object({
  window: Type.String({ description: 'When it started.' }),
  unit: Type.Object({ name: Type.String(), decimals: Type.Integer() }),
  total: Type.String(),
  byOperation: Sums,
  byFamily: Sums,
  byMode: Sums,
  byTier: Type.Record(Type.String(), Type.String(), {
    description: 'What was spent for no caller in particular has no tier.',
  }),
})

const Verification = Type.Object({
  agrees: Type.Boolean(),
  entries: Type.Integer({ description: 'Ledger entries that were read.' }),
  accounts: Type.Integer({ description: 'Kept values that were compared with them.' }),
  compactedThrough: Type.Integer({ description: 'Entries up to this number were compacted.' }),
  head: Type.Object(
    { payer: Type.String(), number: Type.Integer(), hash: Type.String() },
    { description: 'Where the ledger ends. Keep NUMBER:HASH, and it is an anchor.' },
  ),
  anchor: Type.Optional(Type.Enum(['holds', 'compacted', 'broken'])),
  findings: Type.Array(
    Type.Object({
      kind: Type.String({ description: 'Such as chain-broken or balance-drift.' }),
      what: Type.String({ description: 'Which entry, budget, grant, hold or plan.' }),
      window: Type.Optional(Type.String()),
      ledger: Type.String({ description: 'What the entries say.' }),
      kept: Type.String({ description: 'What is there.' }),
    }),
  ),
})

const tags = ['spending']
const BOOKED = { 200: Booking, 202: Queued }

/** By operation id. */
export const SPENDING_SCHEMAS = {
  checkSpending: {
    tags,
    summary: 'Ask what a hold would answer',
    description: 'Writes nothing, and promises nothing about the next call.',
    body: Check,
    response: { 200: Admission },
  },
  holdSpending: {
    tags,
    summary: 'Keep an estimate aside',
    description:
      'On the plan, the total and every other budget at once, or refuses and changes nothing.',
    body: Hold,
    response: { 200: Admission },
  },
  extendSpending: {
    tags,
    summary: 'Let a hold go on, for longer and for more',
    description:
      'A new hold takes the place of the open one, with what is left of it and the estimate; or it refuses, and the old one stays.',
    body: Extend,
    response: { 200: Admission },
  },
  captureSpending: {
    tags,
    summary: 'Charge part of a hold',
    description:
      'The rest stays held. What it names is charged there; the rest as the hold was for.',
    body: Capture,
    response: BOOKED,
  },
  settleSpending: {
    tags,
    summary: 'End a hold at what was really spent',
    description:
      'Without an amount: at the sum of its captures. More than was held is charged, and shown as overage.',
    body: Settle,
    response: BOOKED,
  },
  releaseSpending: {
    tags,
    summary: 'End a hold with nothing more spent',
    description: 'Captures stay.',
    body: Release,
    response: BOOKED,
  },
  recordSpending: {
    tags,
    summary: 'Book what was already spent',
    description: 'Past any limit: it is gone.',
    body: Record,
    response: BOOKED,
  },
  reverseSpending: {
    tags,
    summary: 'Take a booking back',
    description:
      'Whole or in part, by the operation id that it was booked under: an entry of its own. Needs the scope admin.',
    body: Type.Object(
      {
        of: text('The operation id of a record, a capture or a settled hold.'),
        amount: Type.Optional(AmountText),
        reason: text('Kept in the ledger.'),
        ...OPERATION,
      },
      CLOSED,
    ),
    response: {
      200: Type.Unsafe<ReversalBody>(
        Type.Object({
          reversed: Type.String({ description: 'What this call took back.' }),
          left: Type.String({ description: 'What can still be taken back of the booking.' }),
          replayed: Type.Optional(Type.Boolean()),
          ...STANDINGS,
        }),
      ),
    },
  },
  reportSpending: {
    tags,
    summary: 'What the money of a window was spent on',
    description: 'Operations, families, modes and tiers each add up to the total.',
    querystring: Type.Object({ window: Type.Optional(Timestamp) }, CLOSED),
    response: { 200: Report },
  },
  verifySpending: {
    tags,
    summary: 'Walk the chain of the ledger and recompute every account from it',
    description: 'May run at any time. Needs the scope admin.',
    querystring: Type.Object(
      {
        anchor: Type.Optional(
          Type.String({
            pattern: '^([0-9]{1,15}:)?[A-Za-z0-9_-]{43}$',
            description: 'A kept head, NUMBER:HASH, or its hash alone.',
          }),
        ),
      },
      CLOSED,
    ),
    response: { 200: Verification },
  },
  exportLedger: {
    tags,
    summary: 'The ledger, line by line, with the hashes of its chain',
    description:
      'JSON Lines, which `headgate ledger verify --export` verifies, or CSV with format=csv. Needs the scope admin.',
    querystring: Type.Object({ format: Type.Optional(Type.Enum(['jsonl', 'csv'])) }, CLOSED),
    response: { 200: Type.Unsafe<Readable>({ type: 'string' }) },
  },
  pushBalance: {
    tags,
    summary: "Report the operator's balance",
    description: 'An older reading than the one kept changes nothing. Needs the scope admin.',
    body: Type.Object({ amount: AmountText, at: Type.Optional(Timestamp) }, CLOSED),
    response: { 200: Type.Object({ amount: Type.String(), at: Type.String() }) },
  },
  openWindow: {
    tags,
    summary: 'Open the next window now',
    description: 'Holds of the closed one are settled in it. Needs the scope admin.',
    body: Type.Object({}, CLOSED),
    response: { 200: Type.Object({ startsAt: Type.String(), endsAt: Type.String() }) },
  },
  repairClock: {
    tags,
    summary: "Accept the server's clock as it is now",
    description:
      'Whoever asks vouches for it. An entry of the ledger; nothing changes where the clock is trusted. Needs the scope admin.',
    body: Type.Object(
      {
        reason: Type.Optional(
          Type.String({ minLength: 1, maxLength: 256, description: 'Kept in the ledger.' }),
        ),
      },
      CLOSED,
    ),
    response: {
      200: Type.Object({
        repaired: Type.Boolean({ description: 'False where the clock was trusted already.' }),
        now: Type.String({ description: 'The time that is accepted.' }),
        found: Type.Optional(Type.String({ description: 'What was wrong.' })),
      }),
    },
  },
}
