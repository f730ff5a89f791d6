/** The gate on the wire. Apart from the other decisions: it takes a query, and answers by its status. */
import { type Static, Type } from 'typebox'
import { MAX_CHARGE_SUBJECTS, MAX_ID_LENGTH, MAX_SUBJECT_LENGTH } from '../app/bounds.ts'
import { PROBLEM_RESPONSES, refusalResponse } from '../app/problem-schema.ts'
import { CHARGE_FIELDS, CLOSED_OBJECT, DECISIONS } from './schema.ts'

const GateQuery = Type.Object(
  {
    limit: CHARGE_FIELDS.limit,
    id: Type.Optional(
      Type.String({
        maxLength: MAX_ID_LENGTH,
        description:
          'Who is counted. Without it, and for a limit of ipAddress, the address of the client; IPv6 by its /64.',
      }),
    ),
    cost: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'A whole number; 1 by default.' }),
    ),
    refuseWith: Type.Optional(
      Type.Enum(['429', '403', '401'], {
        description:
          'The status of a refusal; by default 429, and 403 for a block. Some proxies know only 401 and 403.',
      }),
    ),
    subject: Type.Optional(
      Type.Unsafe<string | readonly string[]>({
        type: ['string', 'array'],
        items: { type: 'string', maxLength: MAX_SUBJECT_LENGTH },
        maxLength: MAX_SUBJECT_LENGTH,
        maxItems: MAX_CHARGE_SUBJECTS,
        description: 'Whom the request concerns; may stand several times. A block on any refuses.',
      }),
    ),
  },
  CLOSED_OBJECT,
)

export type GateQuestion = Static<typeof GateQuery>

export const GATE_SCHEMA = {
  ...DECISIONS,
  operationId: 'gate',
  summary: 'Charge one, and answer by the status',
  description: '204 if allowed, 429 (or what refuseWith says) if not, 403 if a subject is blocked.',
  querystring: GateQuery,
  response: {
    204: Type.Null({ description: 'Allowed.' }),
    401: refusalResponse,
    403: refusalResponse,
    429: refusalResponse,
    ...PROBLEM_RESPONSES,
  },
}
