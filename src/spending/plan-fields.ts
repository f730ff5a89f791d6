/** The fields of one configured plan, by name, and how one of them is refused. */
import {
  describeNode,
  type Field,
  type NamedField,
  type Node,
  readEntries,
  suggestion,
} from '../documents/index.ts'
import { PlanError, type PlanErrorCode } from './plan-mistake.ts'

/** The fields of one entry, and how to refuse one of them. */
export interface EntryReader {
  readonly field: Field
  /** Undefined if the entry has none, or nothing in it. */
  find(name: FieldName): NamedField | undefined
  refuse(code: PlanErrorCode, rule: string, where?: Field, finding?: string): never
}

export type FieldName = (typeof FIELD_NAMES)[number]

const FIELD_NAMES = [
  'id',
  'name',
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
export const textOf = (node: Node): string | undefined =>
  node.kind === 'scalar' && (node.quoted || !JSON_WORD.test(node.text)) ? node.text : undefined

const JSON_WORD = /^(?:|~|true|false|[nN]ull|NULL|-?\d[\d.eE+-]*)$/

export function entryReader(field: Field, index: number): EntryReader {
  const reader: Omit<EntryReader, 'find'> = {
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
    const finding = `${JSON.stringify(entry.name)}${suggestion(entry.name, known)}`
    const mistake = { thing: field.thing, rule: `may hold only ${known.join(', ')}`, finding }
    throw new PlanError({ code: 'PLAN_FIELD_UNKNOWN', ...mistake, at: entry.nameAt }, index)
  }
  return { ...reader, find: (name) => fields.get(name) }
}
