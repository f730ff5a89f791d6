/** What a schema found wrong, in the form of every other mistake: the thing, the rule, the finding. */
import type { FastifySchemaValidationError } from 'fastify'
import type { Mistake } from '../../core/index.ts'
import { quote, suggestion } from '../../documents/index.ts'

export interface Invalid {
  readonly fault: FastifySchemaValidationError
  /** What was checked, to find in it what the fault points at. */
  readonly data: unknown
  /** What to call the whole. */
  readonly whole: string
}

/** `charges[0].cost: must be integer, found "two"`. */
export const describeInvalid = ({ fault, data, whole }: Invalid): Omit<Mistake, 'code'> => {
  const steps = fault.instancePath.split('/').slice(1).map(unescapePointer)
  const thing = pathText(steps) || whole
  const { params, message = 'is not valid' } = fault
  switch (fault.keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty'])
      const rule = `is no known field of ${thing}${suggestion(name, FIELDS)}`
      return { thing: pathText([...steps, name]), rule }
    }
    case 'required':
      return { thing, rule: `needs the field ${quote(String(params['missingProperty']))}` }
    case 'enum':
      return { thing, rule: `must be one of ${allowed(params)}`, finding: found(data, steps) }
    default:
      return { thing, rule: message, finding: found(data, steps) }
  }
}

/** Every field of every body, for those who misspell one. */
const FIELDS = [
  'limit',
  'id',
  'parts',
  'cost',
  'mode',
  'charges',
  'operationId',
  'questions',
  'verb',
  'regId',
  'ip',
  'identifier',
  'identifiers',
  'type',
  'value',
  'refuseWith',
  'from',
  'estimate',
  'amount',
  'operation',
  'holdId',
  'queue',
  'transactionId',
  'caller',
  'interactingEntity',
  'requestId',
  'address',
  'tier',
  'name',
  'expiresAt',
  'priority',
  'reason',
  'subjects',
  'subject',
]

const unescapePointer = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

const pathText = (steps: readonly string[]): string =>
  steps.reduce((path, step) => {
    if (/^\d+$/.test(step)) return `${path}[${step}]`
    return path === '' ? step : `${path}.${step}`
  }, '')

const allowed = ({ allowedValues }: Record<string, unknown>): string =>
  Array.isArray(allowedValues) ? allowedValues.join(', ') : ''

function found(data: unknown, steps: readonly string[]): string {
  const value = steps.reduce(
    (held: unknown, step) =>
      typeof held === 'object' && held !== null ? Reflect.get(held, step) : undefined,
    data,
  )
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? quote(value) : String(value)
}
