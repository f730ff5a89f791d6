/** A question from the wire: who may ask it, and how it goes to the limiter. */
import type { Answer, Request } from '../../requests/index.ts'
import { type Access, requireAdmin } from './access.ts'
import type { HttpContext } from './context.ts'
import { httpMistake } from './mistake.ts'
import type { QuestionBody, Verb } from './question-schema.ts'

export const answerQuestion = async (
  { headgate: { limiter } }: HttpContext,
  verb: Verb,
  body: QuestionBody,
  access: Access,
): Promise<Answer> => {
  const request = toRequest(body)
  switch (verb) {
    case 'check':
      refuseOperationId(body)
      return limiter.check(request)
    case 'spend':
      return limiter.spend(request, access)
    case 'refund':
      if (body.operationId === undefined) requireAdmin(access, 'a refund without operationId')
      return limiter.refund(request, access)
    case 'reset':
      requireAdmin(access, 'a reset')
      return limiter.reset(request, access)
    default:
      return verb satisfies never
  }
}

function toRequest(body: QuestionBody): Request {
  const { limit, charges, operationId, ...stray } = body
  if (limit !== undefined) {
    if (charges !== undefined) refuse('limit', 'must not stand beside charges')
    return operationId === undefined ? { limit, ...stray } : { limit, ...stray, operationId }
  }
  const [field] = Object.keys(stray)
  if (field !== undefined) {
    refuse(field, charges === undefined ? 'needs a limit beside it' : 'must stand inside charges')
  }
  return {
    ...(charges === undefined ? {} : { charges }),
    ...(operationId === undefined ? {} : { operationId }),
  }
}

/** A check changes nothing, so there is nothing to repeat. Where the body is of a check, its schema says so. */
function refuseOperationId({ operationId }: QuestionBody): void {
  if (operationId !== undefined) refuse('operationId', 'has no meaning in a check')
}

function refuse(field: string, rule: string): never {
  throw httpMistake({ code: 'BODY_INVALID', thing: field, rule })
}
