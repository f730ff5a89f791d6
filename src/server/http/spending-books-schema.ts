/** The books on the wire, as JSON Schema: the report, verification, the ledger, readings of the balance. */
import { Type } from 'typebox'
import { MAX_SPENDING_TEXT } from './bounds.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { Amount } from './spending-schema.ts'

const CLOSED = { additionalProperties: false } as const
const Sums = Type.Record(Type.String(), Type.String())

export const Moment = Type.String({
  maxLength: MAX_SPENDING_TEXT,
  description: 'ISO 8601 with its zone: 2026-01-01T00:00:00Z.',
})

const describe = (operationId: string, summary: string) => ({
  operationId,
  summary,
  tags: ['spending'],
})

export const REPORT_SCHEMA = {
  ...describe('reportSpending', 'What the money of a window was spent on'),
  description: 'Operations, families, modes and tiers each add up to the total.',
  querystring: Type.Object({ window: Type.Optional(Moment) }, CLOSED),
  response: {
    200: Type.Object({
      window: Type.String({ description: 'When it started.' }),
      unit: Type.Object({ name: Type.String(), decimals: Type.Integer() }),
      total: Type.String(),
      byOperation: Sums,
      byFamily: Sums,
      byMode: Sums,
      byTier: Type.Record(Type.String(), Type.String(), {
        description: 'What was spent for nobody in particular has no tier.',
      }),
    }),
    ...PROBLEM_RESPONSES,
  },
}

const Side = Type.Object({ spent: Type.String(), held: Type.String() })

export const VERIFY_SCHEMA = {
  ...describe('verifySpending', 'Recompute every balance from the ledger'),
  description: 'May run at any time. Needs the scope admin.',
  response: {
    200: Type.Object({
      agrees: Type.Boolean(),
      entries: Type.Integer({ description: 'Ledger entries that were read.' }),
      balances: Type.Integer({ description: 'Balances that were compared.' }),
      drifts: Type.Array(
        Type.Object({ node: Type.String(), window: Type.String(), ledger: Side, balance: Side }),
      ),
      missing: Type.Array(Type.Integer(), { description: 'Numbers of entries that are gone.' }),
    }),
    ...PROBLEM_RESPONSES,
  },
}

export const LEDGER_SCHEMA = {
  ...describe('exportLedger', 'The ledger, line by line, hash-chained'),
  description: 'JSON Lines, or CSV with format=csv. Needs the scope admin.',
  querystring: Type.Object({ format: Type.Optional(Type.Enum(['jsonl', 'csv'])) }, CLOSED),
  response: { 200: { type: 'string' }, ...PROBLEM_RESPONSES },
}

export const BALANCE_SCHEMA = {
  ...describe('pushBalance', "Tell the operator's balance"),
  description: 'An older reading than the one kept changes nothing. Needs the scope admin.',
  body: Type.Object({ amount: Amount, at: Type.Optional(Moment) }, CLOSED),
  response: {
    200: Type.Object({ amount: Type.String(), at: Type.String() }),
    ...PROBLEM_RESPONSES,
  },
}

export const TURN_SCHEMA = {
  ...describe('openWindow', 'Open the next window now'),
  description: 'Holds of the closed one are settled in it. Needs the scope admin.',
  body: Type.Object({}, CLOSED),
  response: {
    200: Type.Object({ startsAt: Type.String(), endsAt: Type.String() }),
    ...PROBLEM_RESPONSES,
  },
}
