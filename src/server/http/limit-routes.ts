/** `GET /v1/limits…`: which limits there are, which is in force for an id, and what is left of it. */
import { formatDuration, type GcraLimit, HeadgateError } from '../../core/index.ts'
import type { LimitDefinition } from '../../requests/index.ts'
import { hasProblem, toProblem } from '../problems.ts'
import { toCount, toWholeMillis } from './answer-body.ts'
import { MAX_PAGE } from './bounds.ts'
import type { App, HttpContext } from './context.ts'
import { IN_FORCE_SCHEMA, LIST_SCHEMA, SHOW_SCHEMA } from './limit-schema.ts'
import { handleError, sendProblem } from './problem-handler.ts'

export const limitRoutes = (app: App, { headgate }: HttpContext): void => {
  const { catalog, limiter } = headgate

  app.get('/v1/limits', { schema: LIST_SCHEMA }, async ({ query: { after = '' } }) => {
    const names = [...catalog.current().limits.keys()].filter((name) => name > after).sort()
    const page = names.slice(0, MAX_PAGE)
    const next = names.length > MAX_PAGE ? page.at(-1) : undefined
    const limits = page.flatMap((name) => {
      const definition = catalog.current().limits.get(name)
      return definition === undefined ? [] : [toLimit(definition)]
    })
    return next === undefined ? { limits } : { limits, next }
  })

  app.get('/v1/limits/:name', { schema: SHOW_SCHEMA, errorHandler }, async ({ params }) => {
    const definition = catalog.current().limits.get(params.name)
    return toLimit(definition ?? refuseUnknown(headgate, params.name))
  })

  app.get('/v1/limits/:name/:id', { schema: IN_FORCE_SCHEMA, errorHandler }, async ({ params }) => {
    const ask = { limit: params.name, id: params.id }
    const { definition, id, key, limit, source, override } = catalog.current().resolve(ask)
    const { reason, allowed, remaining, retryIn, resetIn } = await limiter.check({
      ...ask,
      cost: 0,
    })
    return {
      limit: toLimit(definition),
      id,
      bucket: key,
      source,
      ...(override === undefined
        ? {}
        : { override: { id: override.id, comment: override.comment } }),
      ...(limit === undefined ? {} : { inForce: toRate(limit) }),
      allowed,
      remaining: toCount(remaining),
      retryAfterMs: toWholeMillis(retryIn),
      resetAfterMs: toWholeMillis(resetIn),
      ...(reason === undefined ? {} : { reason }),
    }
  })
}

const toRate = ({ burst, count, period }: GcraLimit) => ({
  burst,
  count,
  period: formatDuration(period),
})

const toLimit = (definition: LimitDefinition) => ({
  name: definition.name,
  ...(definition.number === undefined ? {} : { number: definition.number }),
  idFormat: definition.idFormat,
  onStoreFailure: definition.onStoreFailure,
  ...(definition.default === undefined ? {} : { default: toRate(definition.default) }),
  overrides: definition.overrideCount,
})

/** The catalog says it best, with the nearest name. */
function refuseUnknown({ catalog }: HttpContext['headgate'], limit: string): never {
  catalog.current().resolve({ limit })
  throw new Error('assertion failed: a limit that is not listed does not resolve')
}

/** Here an unknown limit is a path that leads nowhere. */
const errorHandler: typeof handleError = (error, request, reply) =>
  error instanceof HeadgateError && hasProblem(error) && error.code === 'LIMIT_UNKNOWN'
    ? sendProblem(reply, { ...toProblem(error), status: 404 })
    : handleError(error, request, reply)
