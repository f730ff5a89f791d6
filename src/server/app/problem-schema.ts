/** Problems as JSON Schema, for every route's description. */
import { Type } from 'typebox'
import { PROBLEM_JSON, type Problem } from './problems.ts'

const PROBLEM = {
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.String({ description: 'Stable; each has a heading in the reference of errors.' }),
  detail: Type.String({ description: 'The thing, the rule and the finding in one sentence.' }),
  thing: Type.String({ description: 'What is wrong.' }),
  rule: Type.String({ description: 'What would be right.' }),
  finding: Type.Optional(Type.String({ description: 'What was found instead.' })),
  cause: Type.Optional(
    Type.String({ description: 'The code of the mistake, where a proxy made it for its client.' }),
  ),
  at: Type.Optional(
    Type.Object(
      { file: Type.String(), line: Type.Integer(), column: Type.Integer() },
      { description: 'Where in a document that was sent; line and column count from 1.' },
    ),
  ),
} as const

export const ProblemSchema = Type.Unsafe<Problem>(Type.Object(PROBLEM))

const asProblem = (description: string, schema = ProblemSchema) => ({
  description,
  content: { [PROBLEM_JSON]: { schema } },
})

/** What any route may answer beside its own. */
export const PROBLEM_RESPONSES = {
  '4xx': asProblem('A mistake in the request.'),
  '5xx': asProblem('The store is unwell (503), or Headgate is (500).'),
} as const

/** What `GET /v1/gate` answers when it refuses. */
export interface GateRefusal extends Problem {
  readonly 'violated-policies': readonly string[]
  readonly retryAfterMs: number | null
}

const RefusalSchema = Type.Unsafe<GateRefusal>(
  Type.Object({
    ...PROBLEM,
    'violated-policies': Type.Array(Type.String()),
    retryAfterMs: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  }),
)

export const refusalResponse = asProblem('Refused: the limit is reached.', RefusalSchema)
