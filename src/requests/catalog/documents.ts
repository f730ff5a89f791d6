/**
 * The documents of a catalog: `limits` declares limits and sets up the built-in ones, defaults give
 * known limits a rate, and overrides give single ids another.
 */
import { describePosition, type Position, quote } from '../../core/errors.ts'
import {
  type Field,
  type Fields,
  gatherFields,
  isMistyped,
  type NamedField,
  readEntries,
  readFields,
  readList,
  refuseField,
} from '../../documents/field.ts'
import type { Gathering } from '../../documents/mistakes.ts'
import { isUnquotedText, type Node, refuseDocument } from '../../documents/node.ts'
import {
  readBoolean,
  readDuration,
  readOneOf,
  readText,
  readWholeNumber,
} from '../../documents/scalars.ts'
import { CLIENT_NETWORK_RANGE } from '../../net/client-address.ts'
import { ID_FORMATS, type IdFormat, reservedRange } from '../ids/id-format.ts'
import {
  knownLimit,
  LIMIT_NAME,
  type LimitDefinition,
  type OnStoreFailure,
  type Override,
  type Places,
  refuseCatalog,
  rulesOf,
  type Vocabulary,
} from './definition.ts'
import { type CatalogWarning, type CheckedRate, RATE_FIELDS, readRate } from './rate.ts'

export interface Declaration {
  readonly name: string
  readonly idFormat: IdFormat
  readonly ipv6Prefix?: number
  readonly onStoreFailure: OnStoreFailure
  readonly rateFrom?: 'subject'
  readonly subjectMayRaise?: true
  readonly shadow?: true
  readonly places?: Places
  /** Absent: only ids with an override are limited. */
  readonly rate?: CheckedRate
  readonly at: Position
}

/** What a store's failure means where nothing is said: a limit that may be ignored is none. */
export const DEFAULT_ON_STORE_FAILURE: OnStoreFailure = 'closed'

const POLICIES = ['open', 'closed'] as const
const RATE_SOURCES = ['subject'] as const

/** More than any one machine runs; the state of a limit stays small whatever it is. */
const MAX_AT_ONCE = 1_000_000

/** One entry of `limits`. With a mistake in it there is no declaration, but perhaps the form of its ids. */
interface LimitEntry {
  readonly name: string
  readonly at: Position
  readonly idFormat: IdFormat | undefined
  readonly declaration: Declaration | undefined
}

export const readLimits = (
  section: Node,
  vocabulary: Vocabulary,
  mistakes: Gathering,
): readonly LimitEntry[] =>
  entriesOf({ thing: 'limits', node: section }, mistakes).map((entry) => {
    const before = mistakes.found.length
    const { idFormat, ...rest } = readDeclaration(entry, vocabulary, mistakes)
    const whole = idFormat !== undefined && mistakes.found.length === before
    const { name, nameAt: at } = entry
    return { name, at, idFormat, declaration: whole ? { ...rest, idFormat } : undefined }
  })

/** One entry of the defaults document. */
export interface DefaultRate {
  readonly name: string
  readonly rate: CheckedRate
  readonly at: Position
}

/** An empty map is a document too: it leaves every limit disabled. */
export const readDefaults = (
  document: Node,
  known: KnownLimits,
  mistakes: Gathering,
): readonly DefaultRate[] =>
  entriesOf({ thing: 'defaults', node: document }, mistakes).flatMap(({ name, nameAt, node }) => {
    const head = headOf(name, nameAt, known, mistakes)
    const shape = { required: RATE_FIELDS, optional: [] }
    const rate = readRate(gatherFields({ thing: name, node }, shape, mistakes), name, mistakes)
    return head === undefined || rate === undefined ? [] : [{ name, rate, at: nameAt }]
  })

const entriesOf = (map: Field, { attempt }: Gathering): readonly NamedField[] =>
  attempt(() => readEntries(map)) ?? []

export interface KnownLimits {
  readonly limits: ReadonlyMap<string, LimitHead>
  /** Declared, but with a mistake that hides the form of their ids: told already, and not unknown. */
  readonly unclear: ReadonlySet<string>
}

function headOf(
  name: string,
  at: Position,
  { limits, unclear }: KnownLimits,
  { attempt }: Gathering,
): LimitHead | undefined {
  return unclear.has(name) ? undefined : attempt(() => knownLimit(name, limits, at))
}

const DECLARATION_FIELDS = [
  'id',
  'ipv6Prefix',
  ...RATE_FIELDS,
  'atOnce',
  'heldFor',
  'onStoreFailure',
  'rateFrom',
  'subjectMayRaise',
  'shadow',
] as const

type DeclarationField = (typeof DECLARATION_FIELDS)[number]

/** As far as it can be read; whether that is all, the mistakes tell. */
function readDeclaration(
  entry: NamedField,
  vocabulary: Vocabulary,
  mistakes: Gathering,
): Omit<Declaration, 'idFormat'> & Pick<LimitEntry, 'idFormat'> {
  const { name, nameAt: at } = entry
  const { attempt } = mistakes
  attempt(() => refuseBadName(name, at))
  const field: Field = { thing: name, node: entry.node }
  const shape = { required: [], optional: DECLARATION_FIELDS } as const
  const fields = gatherFields(field, shape, mistakes)
  const { onStoreFailure, rateFrom, shadow } = fields
  const rate = rateOf(field, fields, mistakes)
  const places = attempt(() => placesOf(field, fields))
  const policy = onStoreFailure && attempt(() => readOneOf(onStoreFailure, POLICIES))
  const from = rateFrom && attempt(() => readOneOf(rateFrom, RATE_SOURCES))
  const isShadow = shadow && attempt(() => readBoolean(shadow))
  const idFormat = attempt(() => formatOf(field, fields.id, vocabulary))
  const ipv6Prefix = attempt(() => prefixOf(fields.ipv6Prefix, idFormat))
  return {
    name,
    idFormat,
    ...(ipv6Prefix !== undefined && { ipv6Prefix }),
    onStoreFailure: policy ?? DEFAULT_ON_STORE_FAILURE,
    ...(from !== undefined && { rateFrom: from }),
    ...(attempt(() => mayRaise(fields)) && { subjectMayRaise: true as const }),
    ...(isShadow === true && { shadow: true as const }),
    ...(rate === undefined ? {} : { rate }),
    ...(places === undefined ? {} : { places }),
    at,
  }
}

function mayRaise({ rateFrom, subjectMayRaise }: Fields<never, DeclarationField>): boolean {
  if (subjectMayRaise === undefined) return false
  if (rateFrom !== undefined) return readBoolean(subjectMayRaise)
  const rule = 'must stand beside rateFrom: subject, without which no subject changes the limit'
  return refuseField(subjectMayRaise, 'FIELD_VALUE', rule, 'no rateFrom')
}

function refuseBadName(name: string, at: Position): void {
  if (LIMIT_NAME.test(name)) return
  const rule = 'must be up to 100 letters, digits, dots, hyphens and underscores, a letter first'
  refuseCatalog({ code: 'LIMIT_NAME_INVALID', thing: 'a limit', rule, finding: quote(name), at })
}

function formatOf(limit: Field, id: Field | undefined, vocabulary: Vocabulary): IdFormat {
  const builtIn = vocabulary.builtIn.find(({ name }) => name === limit.thing)
  if (id === undefined) {
    const usual = builtIn?.idFormat ?? vocabulary.usualFormat
    return usual ?? refuseMissing(limit, 'id, the form of its ids')
  }
  const known = ID_FORMATS.filter((format) => vocabulary.formats[format] !== undefined)
  const format = readOneOf(id, known)
  if (builtIn === undefined || format === builtIn.idFormat) return format
  return refuseField(id, 'FIELD_VALUE', `must be ${builtIn.idFormat}, as this limit is built in`)
}

function prefixOf(field: Field | undefined, idFormat: IdFormat | undefined): number | undefined {
  if (field === undefined) return undefined
  if (idFormat !== undefined && idFormat !== 'client') {
    return refuseField(field, 'FIELD_VALUE', 'must be given only beside id: client', idFormat)
  }
  return readWholeNumber(field, CLIENT_NETWORK_RANGE)
}

/** A burst and a period, or neither: half a rate means nothing. As many come back as fit, unless told. */
function rateOf(
  limit: Field,
  fields: Fields<never, DeclarationField>,
  mistakes: Gathering,
): CheckedRate | undefined {
  const { burst, count = burst, period } = fields
  if (RATE_FIELDS.some((name) => fields[name] !== undefined) && !(burst && period)) {
    const missing = (['burst', 'period'] as const).filter(
      (name) => !fields[name] && !isMistyped(limit, name, DECLARATION_FIELDS),
    )
    const what = `${missing.join(' and ')}, or none of ${RATE_FIELDS.join(', ')}`
    if (missing.length > 0) mistakes.attempt(() => refuseMissing(limit, what))
  }
  return readRate(
    { ...(burst && { burst }), ...(count && { count }), ...(period && { period }) },
    limit.thing,
    mistakes,
  )
}

/** How many at once, and for how long: no place is held for ever by a process that died. */
function placesOf(limit: Field, fields: Fields<never, DeclarationField>): Places | undefined {
  const { atOnce, heldFor } = fields
  if (atOnce === undefined && heldFor === undefined) return undefined
  if (atOnce === undefined || heldFor === undefined) {
    return refuseMissing(limit, atOnce === undefined ? 'atOnce' : 'heldFor')
  }
  for (const name of [...RATE_FIELDS, 'rateFrom', 'subjectMayRaise', 'shadow'] as const) {
    const field = fields[name]
    if (field) refuseField(field, 'FIELD_VALUE', 'must not be given beside atOnce', 'both')
  }
  return {
    atOnce: readWholeNumber(atOnce, { min: 1, max: MAX_AT_ONCE }),
    heldFor: readDuration(heldFor),
  }
}

const refuseMissing = ({ thing, node }: Field, what: string): never =>
  refuseDocument({
    code: 'FIELD_MISSING',
    thing,
    rule: `must hold ${what}`,
    finding: 'none',
    at: node.at,
  })

/** Over all documents together. A million with comments take some 6 s and 1.5 GB to load. */
export const MAX_OVERRIDES = 1_000_000

/** Enough for a ticket and a reason. */
const MAX_COMMENT_LENGTH = 1_024

export interface IdPolicy {
  /** Refuse overrides for private, documentation and other special addresses. Off unless told. */
  readonly refuseReserved?: boolean
  /** Leave out overrides that could never match, each with a warning, instead of refusing all. */
  readonly skipUnmatchable?: boolean
}

export type LimitHead = Pick<LimitDefinition, 'name' | 'number' | 'idFormat' | 'ipv6Prefix'>

/** Where overrides are collected: the same id twice is a mistake between documents too. */
export interface OverrideTable extends KnownLimits {
  readonly vocabulary: Vocabulary
  readonly policy: IdPolicy
  /** By the name of the limit, then by canonical id. */
  readonly found: Map<string, Map<string, Override>>
  readonly warnings: CatalogWarning[]
  readonly mistakes: Gathering
}

/** Adds to the table; if that has mistakes then, it is of no other use. */
export const readOverrides = (document: Node, table: OverrideTable): void => {
  const { attempt } = table.mistakes
  const items = attempt(() => readList({ thing: 'overrides', node: document })) ?? []
  for (const item of items) {
    attempt(() => {
      const entries = readEntries(item)
      if (entries.length === 0)
        refuseField(item, 'FIELD_VALUE', 'must name a limit', 'an empty map')
      for (const entry of entries) readEntry(entry, table)
    })
  }
}

/** `3` of `3:12345678`, or the name of a declared limit. */
export const keyPrefix = ({ name, number }: LimitHead): string => `${number ?? name}:`

function readEntry(entry: NamedField, table: OverrideTable): void {
  const { mistakes } = table
  const head = headOf(entry.name, entry.nameAt, table, mistakes)
  const thing = `override of ${entry.name}`
  const shape = { required: [...RATE_FIELDS, 'ids'], optional: [] } as const
  const { ids, ...fields } = gatherFields({ thing, node: entry.node }, shape, mistakes)
  const rate = readRate(fields, thing, mistakes)
  table.warnings.push(...(rate?.warnings ?? []))
  const items = (ids && mistakes.attempt(() => readList(ids))) ?? []
  if (ids?.node.kind === 'list' && items.length === 0) {
    mistakes.attempt(() => refuseField(ids, 'FIELD_VALUE', 'must hold at least one id', 'none'))
  }
  for (const item of items) mistakes.attempt(() => readOverride(item, head, rate, table))
}

function readOverride(
  item: Field,
  head: LimitHead | undefined,
  rate: CheckedRate | undefined,
  table: OverrideTable,
): void {
  const { id: field, comment } = readItem(item)
  const written = readText(field)
  const id = head && canonicalise(field, written, head, table)
  if (head === undefined || id === undefined || rate === undefined) return
  const key = keyPrefix(head) + id
  add({ id, written, key, limit: rate.limit, comment, at: field.node.at }, head, table)
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

/** Undefined: it could never match, and the policy is to leave it out. */
function canonicalise(
  { node: { at } }: Field,
  written: string,
  head: LimitHead,
  table: OverrideTable,
): string | undefined {
  const { vocabulary, policy } = table
  const rules = rulesOf(vocabulary, head)
  const id = rules.overrideId(written)
  if (typeof id !== 'string') {
    const { rule, unmatchable = false } = id
    if (!unmatchable) return refuseId(head, rule, quote(written), at)
    if (policy.skipUnmatchable !== true) {
      return refuseId(head, rule, `${quote(written)}${SKIP_HINT}`, at)
    }
    table.warnings.push(leftOut(head, rule, quote(written), at))
    return undefined
  }
  const range = policy.refuseReserved === true ? reservedRange(rules, written) : undefined
  if (range !== undefined) {
    refuseId(head, 'must not be in a reserved range', `${quote(written)} in ${range}`, at)
  }
  return id
}

const SKIP_HINT = ', which could never match (skipUnmatchable leaves such ids out)'

/** Of two of the same id the later one holds where such are left out: the earlier could never match. */
function add(
  override: Override,
  head: LimitHead,
  { found, policy, warnings }: OverrideTable,
): void {
  const ids = found.get(head.name) ?? new Map<string, Override>()
  found.set(head.name, ids)
  const earlier = ids.get(override.id)
  if (earlier !== undefined) {
    const rule = 'must stand once among all overrides of its limit'
    if (policy.skipUnmatchable === true) {
      const finding = `${quote(earlier.written)} again at ${describePosition(override.at)}`
      warnings.push(leftOut(head, rule, finding, earlier.at))
    } else {
      const { at, written } = override
      const finding = `${quote(written)} also at ${describePosition(earlier.at)}`
      refuseCatalog({ code: 'ID_DUPLICATE', thing: idThing(head), rule, finding, at })
    }
  }
  ids.set(override.id, override)
}

const idThing = ({ name }: LimitHead): string => `an override id of ${name}`

const refuseId = (head: LimitHead, rule: string, finding: string, at: Position): never =>
  refuseCatalog({ code: 'ID_INVALID', thing: idThing(head), rule, finding, at })

function leftOut(head: LimitHead, broken: string, finding: string, at: Position): CatalogWarning {
  const rule = `is left out, as it could never match: it ${broken}`
  return { code: 'OVERRIDE_UNMATCHABLE', thing: idThing(head), rule, finding, at }
}
