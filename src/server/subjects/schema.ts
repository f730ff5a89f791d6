/** Subjects on the wire, as JSON Schema. Times are whole seconds since the epoch, as in UCAN. */
import { Type } from 'typebox'
import { PROBLEM_RESPONSES } from '../app/problem-schema.ts'

const AppliedRateBody = Type.Object({
  id: Type.String(),
  subject: Type.String({ description: 'As it was spelled when the rate was set.' }),
  matched: Type.String({ description: 'The form of the asked subject that it applies to.' }),
  rate: Type.Number({ description: '0 or less blocks.' }),
  at: Type.Integer({ description: 'When it was set.' }),
  by: Type.Object({
    issuer: Type.String(),
    chain: Type.Array(Type.String(), {
      description: 'The delegations that were used, by the fingerprint of what was signed.',
    }),
  }),
  cause: Type.Optional(Type.String({ description: 'The fingerprint of the invocation.' })),
  expires: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.String()),
  label: Type.Optional(Type.String()),
  refused: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({ description: 'Charges and checks, by all servers.' }),
        last: Type.Integer({ description: 'When it last did.' }),
      },
      {
        description:
          'How often a block on what matched refused; absent if it has not in 90 days. Up to some seconds old.',
      },
    ),
  ),
})

const SubjectBody = Type.Object({
  subject: Type.String(),
  blocked: Type.Boolean(),
  rate: Type.Optional(
    Type.Number({ description: 'The smallest above 0; absent if there is none.' }),
  ),
  rates: Type.Array(AppliedRateBody, {
    description: 'All that apply, those of wider subjects too.',
  }),
})

/** By operation id. */
export const SUBJECT_SCHEMAS = {
  showSubject: {
    summary: 'Which rates apply to a subject, and why',
    description: 'The subject is percent-encoded, and may have any spelling.',
    tags: ['subjects'],
    params: Type.Object({ subject: Type.String() }),
    response: { 200: SubjectBody },
  },
}

const CAR = 'application/vnd.ipld.car'

const asCar = (description: string) => ({
  description,
  content: { [CAR]: { schema: Type.Unsafe<Buffer>({}) } },
})

export const UCAN_SCHEMA = {
  operationId: 'ucan',
  summary: 'Invoke rate-limit/… and ucan/revoke',
  description:
    'A CAR with a ucanto message of invocations; their proofs are the authority. Answers a CAR with signed receipts.',
  tags: ['subjects'],
  security: [],
  body: asCar('Invocations.'),
  response: { 200: asCar('Receipts.'), '4xx': { type: 'string' }, '5xx': { type: 'string' } },
}

export const DID_DOCUMENT_SCHEMA = {
  operationId: 'didDocument',
  summary: 'Who the UCAN service is',
  description: 'Its DID and its public key: a DID document.',
  tags: ['subjects'],
  security: [],
  response: { 200: { type: 'object', additionalProperties: true }, ...PROBLEM_RESPONSES },
}
