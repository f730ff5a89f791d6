/** What `/v1/limits…` answers: which limits there are, and which is in force for an id. */
import { formatDuration } from '../../core/duration.ts'
import type { GcraLimit } from '../../core/gcra.ts'
import { waitMillis } from '../../core/time.ts'
import type { LimitDefinition } from '../../requests/catalog/definition.ts'
import type { Answer } from '../../requests/limiter/charge.ts'
import { MAX_LIST_PAGE } from '../app/bounds.ts'
import type { ApiCall, ApiHandlers } from '../app/endpoints.ts'
import { toCount } from './routes.ts'

export type LimitOperation = 'listLimits' | 'showLimit' | 'showLimitInForce'

export const limitHandlers: ApiHandlers<LimitOperation> = {
  listLimits: async ({ headgate: { catalog } }, { after = '' }) => {
    const { limits } = catalog.current()
    const names = [...limits.keys()].filter((name) => name > after).sort()
    const page = names.slice(0, MAX_LIST_PAGE)
    const next = names.length > MAX_LIST_PAGE ? page.at(-1) : undefined
    const bodies = page.flatMap((name) => {
      const definition = limits.get(name)
      return definition === undefined ? [] : [toLimitBody(definition)]
    })
    return next === undefined ? { limits: bodies } : { limits: bodies, next }
  },

  showLimit: async ({ headgate }, { name }) =>
    toLimitBody(headgate.catalog.current().limits.get(name) ?? refuseUnknown(headgate, name)),

  showLimitInForce: async ({ headgate: { catalog, limiter } }, { name, id: asked }) => {
    const ask = { limit: name, id: asked }
    const { definition, id, key, limit, source, override } = catalog.current().resolve(ask)
    const outlook: Pick<Answer, 'allowed' | 'remaining' | 'retryIn' | 'resetIn'> & {
      readonly reason?: string
    } =
      definition.places === undefined
        ? await limiter.check({ ...ask, cost: 0 })
        : { ...(await limiter.placesLeft(name, asked)), resetIn: 'never' }
    return {
      limit: toLimitBody(definition),
      id,
      bucket: key,
      source,
      ...(override && { override: { id: override.id, comment: override.comment } }),
      ...(limit && { inForce: toRateBody(limit) }),
      allowed: outlook.allowed,
      remaining: toCount(outlook.remaining),
      retryAfterMs: waitMillis(outlook.retryIn),
      resetAfterMs: waitMillis(outlook.resetIn),
      ...(outlook.reason && { reason: outlook.reason }),
    }
  },
}

/** The catalog says it best, with the nearest name. */
function refuseUnknown({ catalog }: ApiCall['headgate'], limit: string): never {
  catalog.current().resolve({ limit })
  throw new Error('assertion failed: a limit that is not listed does not resolve')
}

const toLimitBody = (definition: LimitDefinition) => ({
  name: definition.name,
  ...(definition.number === undefined ? {} : { number: definition.number }),
  idFormat: definition.idFormat,
  ...(definition.ipv6Prefix === undefined ? {} : { ipv6Prefix: definition.ipv6Prefix }),
  onStoreFailure: definition.onStoreFailure,
  ...(definition.default && { default: toRateBody(definition.default) }),
  ...(definition.places && {
    places: {
      atOnce: definition.places.atOnce,
      heldFor: formatDuration(definition.places.heldFor),
    },
  }),
  ...(definition.shadow && { shadow: true }),
  overrides: definition.overrideCount,
})

const toRateBody = ({ burst, count, period }: GcraLimit) => ({
  burst,
  count,
  period: formatDuration(period),
})
