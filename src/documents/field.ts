/** The fields of a document: each a node under the name that messages give it. An unknown one gets a suggestion. */
import type { Position } from '../core/errors.ts'
import { quote } from '../core/errors.ts'
import type { Gathering } from './mistakes.ts'
import { type DocumentErrorCode, describeNode, type Node, refuseDocument } from './node.ts'

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
  /** What becomes of a field that is not known. Default: it is a mistake. */
  readonly others?: OtherFields
}

export type OtherFields = 'refused' | 'ignored'

export type Fields<Required extends string, Optional extends string> = {
  readonly [Name in Required]: Field
} & { readonly [Name in Optional]?: Field }

/** Longer names are not typing mistakes, and comparing them would cost their length squared. */
const MAX_MISTYPED_LENGTH = 100

/** A map of known fields. One that is not known is a mistake unless told otherwise. Throws at the first: for what strangers send. */
export const readFields = <Required extends string, Optional extends string = never>(
  field: Field,
  shape: Shape<Required, Optional>,
): Fields<Required, Optional> =>
  fieldsIn(field, shape, (read) => read()) as Fields<Required, Optional>

/** The same for documents that people write: the fields that are there and known, whatever is wrong with others. */
export const gatherFields = <Required extends string, Optional extends string = never>(
  field: Field,
  shape: Shape<Required, Optional>,
  { attempt }: Gathering,
): Fields<never, Required | Optional> =>
  (attempt(() => fieldsIn(field, shape, attempt)) ?? {}) as Fields<never, Required | Optional>

function fieldsIn(
  field: Field,
  { required, optional, others }: Shape<string, string>,
  attempt: (check: () => never) => unknown,
): Record<string, Field> {
  const known: readonly string[] = [...required, ...optional]
  const found: Record<string, Field> = Object.create(null)
  for (const entry of readEntries(field)) {
    if (known.includes(entry.name)) found[entry.name] = entry
    else if (others !== 'ignored') attempt(() => refuseUnknown(field, entry, known))
  }
  for (const name of required) {
    if (found[name] !== undefined || isMistyped(field, name, known)) continue
    attempt(() => refuseMissing(field, name))
  }
  return found
}

/** Whether a map holds a field that is told as unknown and probably means this one: then it is not missing too. */
export const isMistyped = ({ node }: Field, name: string, known: readonly string[]): boolean =>
  node.kind === 'map' &&
  node.entries.some(({ key }) => !known.includes(key) && nearestName(key, known) === name)

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

/** `finding` where there is more to say than what the field holds. */
export const refuseField = (
  { thing, node }: Field,
  code: DocumentErrorCode,
  rule: string,
  finding = describeNode(node),
): never => refuseDocument({ code, thing, rule, finding, at: node.at })

/**
 * The known name that a mistyped one probably means. Undefined if none is close: a wrong guess is
 * worse than none, and the word itself is no help.
 */
export const nearestName = (name: string, known: Iterable<string>): string | undefined => {
  if (name.length > MAX_MISTYPED_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 4)) + 1
  for (const candidate of known) {
    if (candidate === name) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= bestDistance || distance >= candidate.length) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** ` (did you mean X?)`, or nothing. */
export const suggestion = (name: string, known: Iterable<string>): string => {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}

const refuseUnknown = (map: Field, entry: NamedField, known: readonly string[]): never =>
  refuseDocument({
    code: 'FIELD_UNKNOWN',
    thing: map.thing,
    rule: `may hold only ${known.join(', ')}`,
    finding: `${quote(entry.name)}${suggestion(entry.name, known)}`,
    at: entry.nameAt,
  })

export const refuseMissing = (map: Field, name: string): never =>
  refuseDocument({
    code: 'FIELD_MISSING',
    thing: map.thing,
    rule: `must hold ${name}`,
    finding: 'none',
    at: map.node.at,
  })

/** Levenshtein's: insertions, deletions and replacements, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
