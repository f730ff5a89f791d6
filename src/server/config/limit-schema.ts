/** JSON Schema of `limits` and `overrides`, which the catalog reads together with its other files. */
import { duration } from '../../documents/settings/reader.ts'
import type { IdFormat } from '../../requests/ids/id-format.ts'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })

const map = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  ...(required.length > 0 && { required }),
  properties,
})

const rate = { burst: ref('count'), count: ref('count'), period: duration.schema }

/** By their names alone: their parsers would be loaded by every command. It compiles only while none is missing. */
const ID_FORMS: Readonly<Record<IdFormat, true>> = {
  client: true,
  ipAddress: true,
  ipv6RangeCIDR: true,
  regId: true,
  domain: true,
  domainOrCIDR: true,
  fqdnSet: true,
  opaque: true,
  'regId:identifier': true,
  'regId:domainOrCIDR': true,
}

const limit = {
  ...map({
    id: {
      description: 'The form of the ids it counts by. Built-in limits have theirs.',
      enum: Object.keys(ID_FORMS),
    },
    ipv6Prefix: {
      description: 'Beside id: client, how many bits of an IPv6 address tell clients apart.',
      type: 'integer',
      minimum: 32,
      maximum: 64,
      default: 64,
    },
    ...rate,
    atOnce: {
      description: 'Instead of a rate: how many may hold a place at one time.',
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
    },
    heldFor: {
      description: 'How long a place is held that is not released.',
      ...duration.schema,
    },
    onStoreFailure: {
      description: 'The answer while the store is down.',
      enum: ['open', 'closed'],
      default: 'closed',
    },
    rateFrom: {
      description: 'Scale the limit down to the smallest rate of the subjects that a charge names.',
      enum: ['subject'],
    },
    subjectMayRaise: {
      description: 'With rateFrom: the rate of a subject may raise the limit too.',
      type: 'boolean',
      default: false,
    },
    shadow: {
      description: 'Decide and count, but never refuse.',
      type: 'boolean',
      default: false,
    },
  }),
  dependencies: {
    burst: ['period'],
    count: ['burst', 'period'],
    period: ['burst'],
    atOnce: ['heldFor'],
    heldFor: ['atOnce'],
    subjectMayRaise: ['rateFrom'],
  },
}

const id = { type: ['string', 'integer'] }

const override = map(
  {
    ...rate,
    ids: {
      type: 'array',
      minItems: 1,
      items: { oneOf: [id, map({ id, comment: { type: 'string', maxLength: 1024 } }, ['id'])] },
    },
  },
  ['burst', 'count', 'period', 'ids'],
)

const count = { type: 'integer', minimum: 1 }

export const LIMITS_SCHEMA = {
  type: 'object',
  propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,99}$' },
  additionalProperties: ref('limit'),
}

export const OVERRIDES_SCHEMA = {
  type: 'array',
  items: { type: 'object', minProperties: 1, additionalProperties: ref('override') },
}

export const LIMIT_DEFINITIONS = { ...duration.definitions, count, limit, override }
