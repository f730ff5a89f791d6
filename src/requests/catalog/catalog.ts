/** The catalog: every known limit, and the bucket and rate of an id under it. Never changes. */

import { describePosition, type Mistake, type Position, quote } from '../../core/errors.ts'
import type { GcraLimit } from '../../core/gcra.ts'
import { nameOf } from '../../core/names.ts'
import type { Key } from '../../core/store.ts'
import { gathering } from '../../documents/mistakes.ts'
import type { Node } from '../../documents/node.ts'
import type { IdRules } from '../ids/id-format.ts'
import { type Parts, partsReader } from '../ids/parts.ts'
import {
  type Bucket,
  type CatalogErrorCode,
  knownLimit,
  type LimitDefinition,
  type Override,
  refuseCatalog,
  rulesOf,
  type Vocabulary,
} from './definition.ts'
import {
  DEFAULT_ON_STORE_FAILURE,
  type Declaration,
  type IdPolicy,
  keyPrefix,
  MAX_OVERRIDES,
  type OverrideTable,
  readDefaults,
  readLimits,
  readOverrides,
} from './documents.ts'
import type { CatalogWarning, CheckedRate } from './rate.ts'

export { Mistakes } from '../../documents/mistakes.ts'

export interface Catalog {
  /** By name; the built-in limits are always among them. */
  readonly limits: ReadonlyMap<string, LimitDefinition>
  readonly warnings: readonly CatalogWarning[]
  /** Throws for what the catalog does not know or cannot read. A disabled limit is no mistake. */
  resolve(ask: BucketAsk): Bucket
  overrides(name: string): Iterable<Override>
}

/** What a caller names to find its bucket. */
export interface BucketAsk {
  readonly limit: string
  /** The id to count by, or the parts of a request to build it from; one of the two. */
  readonly id?: string
  readonly parts?: Parts
}

/** Documents, or sections of one: all go the same way, and mistakes between them are found too. */
export interface CatalogSources {
  readonly limits?: readonly Node[]
  readonly defaults?: readonly Node[]
  readonly overrides?: readonly Node[]
  readonly policy?: IdPolicy
}

/** All or nothing: a mistake refuses every document, and all of them are thrown together. */
export const createCatalog = (vocabulary: Vocabulary, sources: CatalogSources): Catalog => {
  const found = new Map<string, Map<string, Override>>()
  const draft: CatalogDraft = {
    vocabulary,
    limits: builtInDrafts(vocabulary),
    unclear: new Set(),
    policy: sources.policy ?? {},
    found,
    warnings: [],
    mistakes: gathering(),
  }
  const { limits: drafts, mistakes, warnings } = draft
  for (const document of sources.limits ?? []) declareAll(document, draft)
  for (const document of sources.defaults ?? []) {
    for (const { name, rate, at } of readDefaults(document, draft, mistakes)) {
      mistakes.attempt(() => setDefault(drafts, name, rate, at, warnings))
    }
  }
  for (const document of sources.overrides ?? []) {
    readOverrides(document, draft)
    mistakes.attempt(() => refuseTooMany(found, document.at))
  }
  mistakes.end()
  const lookups = new Map(
    [...drafts].map(([name, draft]) => [name, finish(vocabulary, draft, found.get(name))]),
  )
  return {
    limits: new Map([...lookups].map(([name, { definition }]) => [name, definition])),
    warnings,
    resolve: (ask) => findBucket(lookups.get(ask.limit) ?? knownLimit(ask.limit, lookups), ask),
    overrides: (name) => knownLimit(name, lookups).overrides.values(),
  }
}

/** What is known so far, of all documents. */
interface CatalogDraft extends OverrideTable {
  readonly limits: Drafts
  readonly unclear: Set<string>
}

interface Draft extends Omit<LimitDefinition, 'overrideCount' | 'default'> {
  readonly declaredAt?: Position
  readonly default?: { readonly limit: GcraLimit; readonly at: Position }
}

type Drafts = Map<string, Draft>

const builtInDrafts = ({ builtIn }: Vocabulary): Drafts =>
  new Map(
    builtIn.map((limit) => [limit.name, { ...limit, onStoreFailure: DEFAULT_ON_STORE_FAILURE }]),
  )

/** A limit with a mistake is known all the same: what else is said of it has mistakes of its own. */
function declareAll(document: Node, draft: CatalogDraft): void {
  const { vocabulary, limits, unclear, mistakes, warnings } = draft
  for (const { name, at, idFormat, declaration } of readLimits(document, vocabulary, mistakes)) {
    if (declaration !== undefined) mistakes.attempt(() => declare(declaration, limits, warnings))
    else if (limits.has(name)) continue
    else if (idFormat === undefined) unclear.add(name)
    else
      limits.set(name, { name, idFormat, onStoreFailure: DEFAULT_ON_STORE_FAILURE, declaredAt: at })
  }
}

function declare(limit: Declaration, drafts: Drafts, warnings: CatalogWarning[]): void {
  const { name, idFormat, ipv6Prefix, onStoreFailure, rateFrom, subjectMayRaise } = limit
  const { shadow, places, rate, at } = limit
  const known = drafts.get(name)
  if (known?.declaredAt !== undefined) refuseTwice(name, 'declared', known.declaredAt, at)
  drafts.set(name, {
    ...known,
    ...(ipv6Prefix !== undefined && { ipv6Prefix }),
    ...(rateFrom !== undefined && { rateFrom }),
    ...(subjectMayRaise !== undefined && { subjectMayRaise }),
    ...(shadow !== undefined && { shadow }),
    ...(places !== undefined && { places }),
    name,
    idFormat,
    onStoreFailure,
    declaredAt: at,
  })
  if (rate !== undefined) setDefault(drafts, name, rate, at, warnings)
}

function setDefault(
  drafts: Drafts,
  name: string,
  rate: CheckedRate,
  at: Position,
  warnings: CatalogWarning[],
): void {
  const draft = knownLimit(name, drafts, at)
  if (draft.default !== undefined) refuseTwice(name, 'given a rate', draft.default.at, at)
  drafts.set(name, { ...draft, default: { limit: rate.limit, at } })
  warnings.push(...rate.warnings)
  if (name === 'CertificatesPerDomainPerAccount') {
    const rule = 'is charged in ACME flows only for accounts with an override'
    warnings.push({ code: 'DEFAULT_UNUSED', thing: name, rule, finding: 'a default', at })
  }
}

const refuseTwice = (name: string, what: string, earlier: Position, at: Position): never =>
  refuseCatalog({
    code: 'LIMIT_DUPLICATE',
    thing: name,
    rule: `must be ${what} once`,
    finding: `it also at ${describePosition(earlier)}`,
    at,
  })

function finish(
  vocabulary: Vocabulary,
  { declaredAt: _, default: rate, ...head }: Draft,
  overrides: ReadonlyMap<string, Override> = new Map(),
): Lookup {
  const given = rate === undefined ? {} : { default: rate.limit }
  const definition = { ...head, ...given, overrideCount: overrides.size }
  const rules = rulesOf(vocabulary, head)
  return { definition, prefix: keyPrefix(definition), rules, overrides }
}

function refuseTooMany(found: ReadonlyMap<string, { size: number }>, at: Position): void {
  const total = [...found.values()].reduce((sum, { size }) => sum + size, 0)
  if (total <= MAX_OVERRIDES) return
  const rule = `must be at most ${MAX_OVERRIDES}`
  refuseCatalog({ code: 'OVERRIDES_TOO_MANY', thing: 'overrides', rule, finding: `${total}`, at })
}

/** All that one limit needs to answer, worked out once. */
interface Lookup {
  readonly definition: LimitDefinition
  readonly prefix: string
  readonly rules: IdRules
  readonly overrides: ReadonlyMap<string, Override>
}

/** On the path of every request: one parse, at most one look into a map, no search. */
const findBucket = (entry: Lookup, ask: BucketAsk): Bucket => {
  const { definition, overrides } = entry
  const id = idOf(entry, ask)
  const key = entry.prefix + id
  const tag = entry.rules.firstPart === undefined ? id : entry.rules.firstPart(id)
  const override = overrides.size === 0 ? undefined : overrides.get(entry.rules.overrideOf(id))
  if (override !== undefined) {
    return { definition, id, key, tag, limit: override.limit, source: 'override', override }
  }
  const limit = definition.default
  if (limit === undefined) {
    const source = definition.places === undefined ? 'disabled' : 'default'
    return { definition, id, key, tag, source }
  }
  return { definition, id, key, tag, limit, source: 'default' }
}

/**
 * Where a bucket is kept, in the partition of its tag: `requests/{12345678}/3`, or
 * `requests/{1337}/4/example.com`. The tag is not said twice: an id can be long.
 */
export const bucketName = (
  room: 'requests' | 'places',
  { definition: { name, number }, id, tag }: Pick<Bucket, 'definition' | 'id' | 'tag'>,
): Key => {
  const label = number === undefined ? name : String(number)
  if (tag.length === id.length) return nameOf(room, tag, label)
  return nameOf(room, tag, label, id.slice(tag.length + 1))
}

function idOf({ definition, rules }: Lookup, { id, parts }: BucketAsk): string {
  const { name, idFormat } = definition
  if (id === undefined) {
    if (parts !== undefined) return rules.fromParts(partsReader(parts, `the id of ${name}`))
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
