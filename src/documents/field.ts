/** A place in a document under the name that messages give it, and the fields of a map. */
import type { Position } from '../core/errors.ts'
import { type DocumentErrorCode, refuse } from './mistake.ts'
import { suggestion } from './nearest.ts'
import { describeNode, type Node, quote } from './node.ts'

export interface Field {
  /** As a person would say it: `NewOrdersPerAccount.burst`. */
  readonly thing: string
  readonly node: Node
}

/** A field whose name the reader did not know beforehand. */
export interface NamedField extends Field {
  readonly name: string
  readonly nameAt: Position
}

export interface Shape<Required extends string, Optional extends string> {
  readonly required: readonly Required[]
  readonly optional: readonly Optional[]
}

export type Fields<Required extends string, Optional extends string> = {
  readonly [Name in Required]: Field
} & { readonly [Name in Optional]?: Field }

/** A map of known fields. One that is not known is a mistake, `<<` included: nothing is merged. */
export const readFields = <Required extends string, Optional extends string = never>(
  field: Field,
  shape: Shape<Required, Optional>,
): Fields<Required, Optional> => {
  const known: readonly string[] = [...shape.required, ...shape.optional]
  const found: Record<string, Field> = Object.create(null)
  for (const entry of readEntries(field)) {
    if (!known.includes(entry.name)) refuseUnknown(field, entry, known)
    found[entry.name] = entry
  }
  const missing = shape.required.find((name) => found[name] === undefined)
  if (missing !== undefined) refuseMissing(field, missing)
  return found as Fields<Required, Optional>
}

/** A map of any names, in the order of the source. */
export const readEntries = (field: Field): readonly NamedField[] => {
  const { node } = field
  if (node.kind !== 'map') return refuseField(field, 'FIELD_TYPE', 'must be a map')
  return node.entries.map(({ key, keyAt, value }) => ({
    name: key,
    nameAt: keyAt,
    thing: `${field.thing}.${key}`,
    node: value,
  }))
}

export const readList = (field: Field): readonly Field[] => {
  const { node } = field
  if (node.kind !== 'list') return refuseField(field, 'FIELD_TYPE', 'must be a list')
  return node.items.map((item, index) => ({ thing: `${field.thing}[${index}]`, node: item }))
}

/** `finding` where there is more to say than what stands there. */
export const refuseField = (
  { thing, node }: Field,
  code: DocumentErrorCode,
  rule: string,
  finding = describeNode(node),
): never => refuse({ code, thing, rule, finding, at: node.at })

const refuseUnknown = (map: Field, entry: NamedField, known: readonly string[]): never =>
  refuse({
    code: 'FIELD_UNKNOWN',
    thing: map.thing,
    rule: `may hold only ${known.join(', ')}`,
    finding: `${quote(entry.name)}${suggestion(entry.name, known)}`,
    at: entry.nameAt,
  })

const refuseMissing = (map: Field, name: string): never =>
  refuse({
    code: 'FIELD_MISSING',
    thing: map.thing,
    rule: `must hold ${name}`,
    finding: 'none',
    at: map.node.at,
  })
