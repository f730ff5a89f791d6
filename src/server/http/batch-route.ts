/** `POST /v1/batch`: many independent questions in one request, answered in order. */
import { requestAccess } from './access.ts'
import { toAnswerBody } from './answer-body.ts'
import { type BatchAnswer, BatchAnswerSchema } from './answer-schema.ts'
import type { App, HttpContext } from './context.ts'
import { problemOf } from './problem-handler.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { answerQuestion } from './question.ts'
import { BatchBody } from './question-schema.ts'

export const batchRoute = (app: App, context: HttpContext): void => {
  const schema = {
    operationId: 'batch',
    summary: 'Ask many independent questions',
    description:
      'Each is answered for itself, in order; a mistake in one is an error in its place and no other. For charges that belong together use "charges".',
    tags: ['decisions'],
    body: BatchBody,
    response: { 200: BatchAnswerSchema, ...PROBLEM_RESPONSES },
  }
  app.post('/v1/batch', { schema }, async (request) => {
    const access = requestAccess(request)
    // All at once, so that they share one commit of the store.
    const answers = request.body.questions.map(
      async ({ verb = 'spend', ...question }): Promise<BatchAnswer> => {
        try {
          return toAnswerBody(await answerQuestion(context, verb, question, access), context)
        } catch (error) {
          return { error: problemOf(error, request) }
        }
      },
    )
    return { answers: await Promise.all(answers) }
  })
}
