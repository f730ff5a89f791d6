/** What operations of spending take and answer in common, and its larger answers, as JSON Schema. */
import { Type } from 'typebox'
import { MAX_SPENDING_TEXT } from '../app/bounds.ts'

/** An unknown field is a mistake. */
export const CLOSED = { additionalProperties: false } as const

export const text = (description: string) =>
  Type.String({ maxLength: MAX_SPENDING_TEXT, description })

/** Numbers are let in so that the reader of amounts can say what is wrong with one. */
export const AmountText = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  description:
    'Of the smallest unit, as decimal text. A whole JSON number up to 2^53 is taken too; signs, fractions and exponents are not.',
})

export const OPERATION = {
  operationId: Type.Optional(text('The same id with the same question again changes nothing.')),
} as const

/** With its zone: a moment without one means something else on every machine. */
export const Timestamp = Type.String({
  maxLength: MAX_SPENDING_TEXT,
  description: 'ISO 8601 with its zone: 2026-01-01T00:00:00Z.',
})

const AMOUNT = Type.String({ description: 'Of the smallest unit.' })

export const STANDING = {
  limit: Type.String({ description: 'An amount, or unlimited.' }),
  spent: AMOUNT,
  held: AMOUNT,
  remaining: Type.String({
    description: 'An amount, below zero where more was recorded than there was, or unlimited.',
  }),
} as const

export const GrantBody = Type.Object({
  id: Type.String(),
  amount: AMOUNT,
  spent: AMOUNT,
  pinned: Type.String({ description: 'What open holds keep aside in it.' }),
  left: Type.String({ description: 'What can still be taken from it.' }),
  priority: Type.Integer(),
  expiresAt: Type.Optional(Type.String({ description: 'Or when it was voided; absent: never.' })),
  reason: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String({ description: 'Who gave it.' })),
})

const GRANT_ANSWER = {
  grantId: Type.String(),
  replayed: Type.Optional(Type.Boolean({ description: 'The answer to an earlier call.' })),
  plan: Type.Object({ id: Type.String(), tier: Type.String(), ...STANDING }),
} as const

export const Granted = Type.Object({
  ...GRANT_ANSWER,
  expiresAt: Type.Optional(Type.String({ description: 'Of the grant; absent: never.' })),
})

export const Voided = Type.Object({
  ...GRANT_ANSWER,
  voided: Type.String({ description: 'What was left of it, and is gone.' }),
  pinned: Type.String({
    description: 'What open holds keep aside in it: theirs until they end, then gone too.',
  }),
})

export const OpenHoldBody = Type.Object({
  holdId: Type.String(),
  plan: Type.Optional(Type.String()),
  tier: Type.Optional(Type.String()),
  member: Type.Optional(Type.String()),
  ip: Type.Optional(Type.String()),
  operation: Type.String(),
  mode: Type.String(),
  amount: Type.String({ description: 'What was held.' }),
  open: Type.String({ description: 'What of it is still kept aside.' }),
  captured: Type.String({ description: 'What captures charged so far.' }),
  madeAt: Type.String(),
  expiresAt: Type.String({ description: 'When it ends by itself.' }),
  window: Type.String({ description: 'The start of the window that it counts in.' }),
})

export const PLAN = {
  id: Type.String(),
  tier: Type.String({ description: 'BASIC, EXTENDED or PRIVILEGED.' }),
  name: Type.Optional(Type.String()),
  limit: Type.String({ description: 'Its own, or that of its tier: an amount, or unlimited.' }),
  active: Type.Boolean(),
  createdAt: Type.Optional(Type.String()),
  retiredAt: Type.Optional(Type.String({ description: 'From then on it pays for nothing new.' })),
  source: Type.String({ description: 'file, store (created while Headgate runs) or implicit.' }),
} as const

const Links = Type.Array(Type.Object({ link: Type.String(), planId: Type.String() }))
const Ids = Type.Array(Type.String())

const Side = Type.Unsafe<string | null>({ type: ['string', 'null'] })

export const Diff = Type.Object({
  changes: Type.Boolean(),
  added: Ids,
  removed: Ids,
  updated: Ids,
  linksAdded: Links,
  linksRemoved: Links,
  plans: Type.Array(
    Type.Object({
      id: Type.String(),
      fields: Type.Array(Type.Object({ field: Type.String(), old: Side, new: Side }), {
        description: 'Of a plan without a limit of its own the limit is that of its tier.',
      }),
      spent: Type.String({ description: 'In the window of now.' }),
      held: Type.String(),
      over: Type.String({ description: 'By how much it would be beyond what it has, at once.' }),
    }),
  ),
})

const Sums = Type.Record(Type.String(), Type.String())

export const Shown = Type.Object({
  ...PLAN,
  ...STANDING,
  addresses: Type.Array(Type.String()),
  ips: Type.Array(Type.String()),
  grants: Type.Array(GrantBody),
  daily: Type.Record(Type.String(), Type.String(), {
    description: 'Spent by UTC day of the start of the window, for 62 days.',
  }),
  monthly: Sums,
})
