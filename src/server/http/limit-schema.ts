/** Limits on the wire, as JSON Schema. */
import { Type } from 'typebox'
import { OUTLOOK } from './answer-schema.ts'
import { MAX_LIMIT_NAME_LENGTH } from './bounds.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'

const Rate = Type.Object({
  burst: Type.Integer(),
  count: Type.Integer(),
  period: Type.String({ description: 'As in headgate.yml: 3h0m0s.' }),
})

const Limit = Type.Object({
  name: Type.String(),
  number: Type.Optional(Type.Integer({ description: 'Of a built-in limit: begins its buckets.' })),
  idFormat: Type.String(),
  onStoreFailure: Type.String(),
  default: Type.Optional(Rate),
  overrides: Type.Integer({ description: 'How many ids have their own.' }),
})

const Page = Type.Object({
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

const Name = Type.Object({ name: Type.String() })
const NameAndId = Type.Object({ name: Type.String(), id: Type.String() })
const After = Type.Object(
  { after: Type.Optional(Type.String({ maxLength: MAX_LIMIT_NAME_LENGTH })) },
  { additionalProperties: false },
)

const describe = (operationId: string, summary: string) => ({
  operationId,
  summary,
  tags: ['limits'],
})

export const LIST_SCHEMA = {
  ...describe('listLimits', 'Every known limit, by name'),
  querystring: After,
  response: { 200: Page, ...PROBLEM_RESPONSES },
}

export const SHOW_SCHEMA = {
  ...describe('showLimit', 'One limit'),
  params: Name,
  response: { 200: Limit, ...PROBLEM_RESPONSES },
}

export const IN_FORCE_SCHEMA = {
  ...describe('showLimitInForce', 'The limit in force for an id, and what is left'),
  description: 'Charges nothing. The id is percent-encoded.',
  params: NameAndId,
  response: { 200: InForce, ...PROBLEM_RESPONSES },
}
