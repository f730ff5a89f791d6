/** From what a caller asks for to its bucket: the id in one spelling, the key, the rate in force. */
import type { Mistake } from '../core/errors.ts'
import { quote } from '../documents/index.ts'
import type { Bucket, LimitDefinition, Override } from './bucket.ts'
import { type CatalogErrorCode, refuseCatalog } from './catalog-mistake.ts'
import { type IdRules, idRules } from './id-formats.ts'
import { keyPrefix } from './overrides.ts'
import { bucketIdFromParts, type Parts } from './parts.ts'

export interface BucketAsk {
  readonly limit: string
  /** The id to count by, or the parts of a request to build it from; one of the two. */
  readonly id?: string
  readonly parts?: Parts
}

/** All that one limit needs to answer, worked out once. */
export interface Lookup {
  readonly definition: LimitDefinition
  readonly prefix: string
  readonly rules: IdRules
  readonly overrides: ReadonlyMap<string, Override>
}

export const lookup = (
  definition: LimitDefinition,
  overrides: ReadonlyMap<string, Override>,
): Lookup => ({
  definition,
  prefix: keyPrefix(definition),
  rules: idRules(definition.idFormat),
  overrides,
})

/** On the path of every request: one parse, at most one look into a map, no search. */
export const findBucket = (entry: Lookup, ask: BucketAsk): Bucket => {
  const { definition, overrides } = entry
  const id = idOf(entry, ask)
  const key = entry.prefix + id
  const override = overrides.size === 0 ? undefined : overrides.get(entry.rules.overrideOf(id))
  if (override !== undefined) {
    return { definition, id, key, limit: override.limit, source: 'override', override }
  }
  const limit = definition.default
  if (limit === undefined) return { definition, id, key, source: 'disabled' }
  return { definition, id, key, limit, source: 'default' }
}

function idOf({ definition, rules }: Lookup, { id, parts }: BucketAsk): string {
  const { name, idFormat } = definition
  if (id === undefined) {
    if (parts !== undefined) return bucketIdFromParts(idFormat, parts, `the id of ${name}`)
    return refuseAsk('ID_MISSING', name, `needs an id (${idFormat}) or parts to build it from`)
  }
  if (parts !== undefined) return refuseAsk('PARTS_WITH_ID', name, 'takes an id or parts, not both')
  const parsed = rules.bucketId(id)
  return typeof parsed === 'string' ? parsed : refuseAsk('ID_INVALID', name, parsed.rule, quote(id))
}

const refuseAsk = (code: CatalogErrorCode, name: string, rule: string, finding?: string): never => {
  const mistake: Mistake<CatalogErrorCode> = { code, thing: `the id of ${name}`, rule }
  return refuseCatalog(finding === undefined ? mistake : { ...mistake, finding })
}
