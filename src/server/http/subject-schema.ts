/** Rates that apply to a subject, on the wire. Times are whole seconds since the epoch, as in UCAN. */
import { Type } from 'typebox'
import { PROBLEM_RESPONSES } from './problem-schema.ts'

const AppliedRate = Type.Object({
  id: Type.String(),
  subject: Type.String({ description: 'As it was given to whoever set the rate.' }),
  matched: Type.String({ description: 'The form of the asked subject that it applies to.' }),
  rate: Type.Number({ description: '0 or less blocks.' }),
  at: Type.Integer({ description: 'When it was set.' }),
  by: Type.Object({
    issuer: Type.String(),
    chain: Type.Array(Type.String(), { description: 'The delegations that were used, by CID.' }),
  }),
  cause: Type.Optional(Type.String({ description: 'The CID of the invocation.' })),
  expires: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.String()),
  label: Type.Optional(Type.String()),
})

const Standing = Type.Object({
  subject: Type.String(),
  blocked: Type.Boolean(),
  rate: Type.Optional(
    Type.Number({ description: 'The smallest above 0; absent if there is none.' }),
  ),
  rates: Type.Array(AppliedRate, { description: 'All that apply, those of wider subjects too.' }),
})

export const SUBJECT_SCHEMA = {
  operationId: 'showSubject',
  summary: 'Which rates apply to a subject, and why',
  description: 'The subject is percent-encoded, and may have any spelling.',
  tags: ['subjects'],
  params: Type.Object({ subject: Type.String() }),
  response: { 200: Standing, ...PROBLEM_RESPONSES },
}
