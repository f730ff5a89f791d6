/** `POST /v1/spend`, `/v1/check`, `/v1/refund` and `/v1/reset`: one question each. */
import { requestAccess } from './access.ts'
import { toAnswerBody } from './answer-body.ts'
import { AnswerSchema } from './answer-schema.ts'
import type { App, HttpContext } from './context.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { answerQuestion } from './question.ts'
import { CheckBody, OperationBody, VERBS, type Verb } from './question-schema.ts'
import { setRateHeaders } from './rate-headers.ts'

export const decideRoutes = (app: App, context: HttpContext): void => {
  const { helpLink } = context.headgate.settings
  for (const verb of VERBS) {
    const schema = {
      ...DESCRIPTIONS[verb],
      tags: ['decisions'],
      body: verb === 'check' ? CheckBody : OperationBody,
      response: { 200: AnswerSchema, ...PROBLEM_RESPONSES },
    }
    app.post(`/v1/${verb}`, { schema }, async (request, reply) => {
      const answer = await answerQuestion(context, verb, request.body, requestAccess(request))
      setRateHeaders(reply, answer, helpLink)
      return toAnswerBody(answer, context)
    })
  }
}

interface Description {
  readonly operationId: Verb
  readonly summary: string
  readonly description: string
}

const DESCRIPTIONS: Readonly<Record<Verb, Description>> = {
  spend: {
    operationId: 'spend',
    summary: 'Charge, all or nothing',
    description: 'A refusal charges nothing and is answered 200 with "allowed": false.',
  },
  check: {
    operationId: 'check',
    summary: 'Ask what a spend would answer',
    description: 'Charges nothing, writes nothing, and promises nothing about the next call.',
  },
  refund: {
    operationId: 'refund',
    summary: 'Give back',
    description:
      'With operationId: what the spend of that id charged, less what time forgave. Without: the charges named, which needs the scope admin.',
  },
  reset: {
    operationId: 'reset',
    summary: 'Fill buckets again',
    description: 'Whatever was charged. Needs the scope admin.',
  },
}
