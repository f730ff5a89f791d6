/** The fields of one configured plan, by name, and how a mistake in one of them is reported. */
import { HeadgateError, type Mistake, quote } from '../../core/errors.ts'
import { type Field, type NamedField, readEntries, suggestion } from '../../documents/field.ts'
import { describeNode, type Node } from '../../documents/node.ts'

/** The mistakes that a list of plans can hold. */
export type PlanErrorCode =
  | 'CONFIG_MISSING'
  | 'CONFIG_NOT_JSON'
  | 'CONFIG_NOT_ARRAY'
  | 'CONFIG_TOO_MANY_PLANS'
  | 'PLAN_NOT_OBJECT'
  | 'PLAN_FIELD_UNKNOWN'
  | 'PLAN_FIELD_CONFLICT'
  | 'PLAN_FIELD_INVALID'
  | 'PLAN_ID_MISSING'
  | 'PLAN_ID_INVALID'
  | 'PLAN_ID_DUPLICATE'
  | 'PLAN_TYPE_MISSING'
  | 'PLAN_TYPE_INVALID'
  | 'PLAN_NO_ADDRESSES'
  | 'PLAN_ADDRESS_INVALID'
  | 'PLAN_ADDRESS_DUPLICATE'

/** A mistake in one entry of a list of plans, counted from 0; without an index it is the list's. */
export class PlanError extends HeadgateError<PlanErrorCode> {
  override readonly name = 'PlanError'
  readonly index: number | undefined

  constructor(mistake: Mistake<PlanErrorCode>, index?: number, options?: ErrorOptions) {
    super(mistake, options)
    this.index = index
  }
}

export interface PlanFields {
  readonly field: Field
  /** Undefined if the entry has none, or nothing in it. */
  find(name: PlanFieldName): NamedField | undefined
  refuse(code: PlanErrorCode, rule: string, where?: Field, finding?: string): never
}

export type PlanFieldName = (typeof FIELD_NAMES)[number]

const FIELD_NAMES = [
  'id',
  'name',
  'members',
  'tier',
  'ethAddresses',
  'evmAddresses',
  'ipAddresses',
  'subscriptionType',
  'subscriptionTier',
  'limit',
  'categories',
  'active',
  'createdAt',
] as const

/** Text in quotes, or plain text that JSON would not read as a number, a truth value or null. */
export const planText = (node: Node): string | undefined =>
  node.kind === 'scalar' && (node.quoted || !JSON_WORD.test(node.text)) ? node.text : undefined

const JSON_WORD = /^(?:|~|true|false|[nN]ull|NULL|-?\d[\d.eE+-]*)$/

export function readPlanFields(field: Field, index: number): PlanFields {
  const reader: Omit<PlanFields, 'find'> = {
    field,
    refuse: (code, rule, where = field, finding = describeNode(where.node)) => {
      throw new PlanError({ code, thing: where.thing, rule, finding, at: where.node.at }, index)
    },
  }
  if (field.node.kind !== 'map') return reader.refuse('PLAN_NOT_OBJECT', 'must be an object')
  const fields = new Map(readEntries(field).map((entry) => [entry.name, entry]))
  const known: readonly string[] = FIELD_NAMES
  for (const entry of fields.values()) {
    if (known.includes(entry.name)) continue
    const finding = `${quote(entry.name)}${suggestion(entry.name, known)}`
    const mistake = { thing: field.thing, rule: `may hold only ${known.join(', ')}`, finding }
    throw new PlanError({ code: 'PLAN_FIELD_UNKNOWN', ...mistake, at: entry.nameAt }, index)
  }
  return { ...reader, find: (name) => fields.get(name) }
}
