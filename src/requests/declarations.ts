/** The `limits` section: new limits with their id format, and settings of the built-in ones. */
import type { Position } from '../core/errors.ts'
import {
  type Field,
  type Fields,
  type NamedField,
  type Node,
  quote,
  readEntries,
  readFields,
  readOneOf,
  refuse,
  refuseField,
} from '../documents/index.ts'
import type { OnStoreFailure } from './bucket.ts'
import { refuseCatalog } from './catalog-mistake.ts'
import { ID_FORMATS, type IdFormat } from './id-formats.ts'
import { BUILT_IN_LIMITS, LIMIT_NAME } from './names.ts'
import { RATE_FIELDS, type Rate, type RateField, readRate } from './rate.ts'

export interface Declaration {
  readonly name: string
  readonly idFormat: IdFormat
  readonly onStoreFailure: OnStoreFailure
  readonly rateFrom?: 'subject'
  /** Absent: only ids with an override are limited. */
  readonly rate?: Rate
  readonly at: Position
}

/** What a store's failure means where nothing is said: a limit that may be ignored is none. */
export const DEFAULT_ON_STORE_FAILURE: OnStoreFailure = 'closed'

export const readLimits = (section: Node): readonly Declaration[] =>
  readEntries({ thing: 'limits', node: section }).map(readDeclaration)

type DeclarationField = RateField | 'id' | 'onStoreFailure' | 'rateFrom'

function readDeclaration(entry: NamedField): Declaration {
  const { name, nameAt: at } = entry
  if (!LIMIT_NAME.test(name)) {
    const rule = 'must be up to 100 letters, digits, dots, hyphens and underscores, a letter first'
    refuseCatalog({ code: 'LIMIT_NAME_INVALID', thing: 'a limit', rule, finding: quote(name), at })
  }
  const field: Field = { thing: name, node: entry.node }
  const fields: Fields<never, DeclarationField> = readFields(field, {
    required: [],
    optional: ['id', ...RATE_FIELDS, 'onStoreFailure', 'rateFrom'],
  })
  const rate = rateOf(field, fields)
  return {
    name,
    idFormat: formatOf(field, fields.id),
    onStoreFailure: fields.onStoreFailure
      ? readOneOf(fields.onStoreFailure, ['open', 'closed'])
      : DEFAULT_ON_STORE_FAILURE,
    ...(fields.rateFrom && { rateFrom: readOneOf(fields.rateFrom, ['subject']) }),
    ...(rate === undefined ? {} : { rate }),
    at,
  }
}

function formatOf(limit: Field, id: Field | undefined): IdFormat {
  const builtIn = BUILT_IN_LIMITS.find(({ name }) => name === limit.thing)
  if (id === undefined) return builtIn?.idFormat ?? refuseMissing(limit, 'id, the form of its ids')
  const format = readOneOf(id, ID_FORMATS)
  if (builtIn === undefined || format === builtIn.idFormat) return format
  return refuseField(id, 'FIELD_VALUE', `must be ${builtIn.idFormat}, as this limit is built in`)
}

/** All three or none: a rate of two parts means nothing. */
function rateOf(limit: Field, fields: Fields<never, DeclarationField>): Rate | undefined {
  const { burst, count, period } = fields
  if (burst && count && period) return readRate({ burst, count, period }, limit.thing)
  const missing = RATE_FIELDS.filter((name) => fields[name] === undefined)
  if (missing.length === RATE_FIELDS.length) return undefined
  return refuseMissing(limit, `${missing.join(' and ')}, or none of ${RATE_FIELDS.join(', ')}`)
}

const refuseMissing = ({ thing, node }: Field, what: string): never =>
  refuse({ code: 'FIELD_MISSING', thing, rule: `must hold ${what}`, finding: 'none', at: node.at })
