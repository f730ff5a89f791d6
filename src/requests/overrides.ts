/** The overrides document: a list of maps from a limit's name to a rate and the ids that have it. */
import { describePosition, type Position } from '../core/errors.ts'
import {
  type Field,
  isUnquotedText,
  type NamedField,
  type Node,
  quote,
  readEntries,
  readFields,
  readList,
  readText,
  refuseField,
} from '../documents/index.ts'
import type { LimitDefinition, Override } from './bucket.ts'
import { refuseCatalog } from './catalog-mistake.ts'
import { idRules, reservedRange } from './id-formats.ts'
import { knownLimit } from './known-limit.ts'
import { type CatalogWarning, RATE_FIELDS, readRate } from './rate.ts'

/** Over all documents together. A million with comments take some 6 s and 1.5 GB to load. */
export const MAX_OVERRIDES = 1_000_000

/** Enough for a ticket and a reason. */
export const MAX_COMMENT_LENGTH = 1_024

export interface IdPolicy {
  /** Refuse overrides for private, documentation and other special addresses. Off unless told. */
  readonly refuseReserved?: boolean
}

export type LimitHead = Pick<LimitDefinition, 'name' | 'number' | 'idFormat'>

/** Where overrides are collected: the same id twice is a mistake between documents too. */
export interface OverrideTable {
  readonly limits: ReadonlyMap<string, LimitHead>
  readonly policy: IdPolicy
  /** By the name of the limit, then by canonical id. */
  readonly found: Map<string, Map<string, Override>>
}

/** Adds to the table and gives back warnings. If it throws, the table is of no use any more. */
export const readOverrides = (document: Node, table: OverrideTable): readonly CatalogWarning[] =>
  readList({ thing: 'overrides', node: document }).flatMap((item) => {
    const entries = readEntries(item)
    if (entries.length === 0) refuseField(item, 'FIELD_VALUE', 'must name a limit', 'an empty map')
    return entries.flatMap((entry) => readEntry(entry, table))
  })

/** `3` of `3:12345678`, or the name of a declared limit. */
export const keyPrefix = ({ name, number }: LimitHead): string => `${number ?? name}:`

function readEntry(entry: NamedField, table: OverrideTable): readonly CatalogWarning[] {
  const head = knownLimit(entry.name, table.limits, entry.nameAt)
  const thing = `override of ${head.name}`
  const shape = { required: [...RATE_FIELDS, 'ids'], optional: [] } as const
  const { ids, ...rate } = readFields({ thing, node: entry.node }, shape)
  const { limit, warnings } = readRate(rate, thing)
  const items = readList(ids)
  if (items.length === 0) refuseField(ids, 'FIELD_VALUE', 'must hold at least one id', 'none')
  for (const item of items) {
    const { id: field, comment } = readItem(item)
    const written = readText(field)
    const id = canonicalise(field, written, head, table.policy)
    const key = keyPrefix(head) + id
    add({ id, written, key, limit, comment, at: field.node.at }, head, table)
  }
  return warnings
}

/** Plain text, or a map of `id` and an optional `comment`. */
function readItem(item: Field): { readonly id: Field; readonly comment: string } {
  if (item.node.kind !== 'map' || isUnquotedText(item.node)) return { id: item, comment: '' }
  const { id, comment } = readFields(item, { required: ['id'], optional: ['comment'] })
  if (comment === undefined) return { id, comment: '' }
  const text = readText(comment)
  if (text.length <= MAX_COMMENT_LENGTH) return { id, comment: text }
  const rule = `must be at most ${MAX_COMMENT_LENGTH} characters long`
  return refuseField(comment, 'FIELD_VALUE', rule, `${text.length}`)
}

function canonicalise(
  { node: { at } }: Field,
  written: string,
  head: LimitHead,
  policy: IdPolicy,
): string {
  const id = idRules(head.idFormat).overrideId(written)
  if (typeof id !== 'string') return refuseId(head, id.rule, quote(written), at)
  const range = policy.refuseReserved === true ? reservedRange(head.idFormat, written) : undefined
  if (range !== undefined) {
    refuseId(head, 'must not be in a reserved range', `${quote(written)} in ${range}`, at)
  }
  return id
}

function add(override: Override, { name }: LimitHead, { found }: OverrideTable): void {
  const ids = found.get(name) ?? new Map<string, Override>()
  found.set(name, ids)
  const earlier = ids.get(override.id)
  if (earlier !== undefined) {
    const { at, written } = override
    const rule = 'must stand once among all overrides of its limit'
    const finding = `${quote(written)} also at ${describePosition(earlier.at)}`
    refuseCatalog({ code: 'ID_DUPLICATE', thing: `an override id of ${name}`, rule, finding, at })
  }
  ids.set(override.id, override)
}

const refuseId = ({ name }: LimitHead, rule: string, finding: string, at: Position): never =>
  refuseCatalog({ code: 'ID_INVALID', thing: `an override id of ${name}`, rule, finding, at })
