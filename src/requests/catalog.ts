/** The catalog: every known limit, and the bucket and rate of an id under it. Never changes. */
import { describePosition, type Position } from '../core/errors.ts'
import type { GcraLimit } from '../core/gcra.ts'
import type { Node } from '../documents/index.ts'
import type { Bucket, LimitDefinition, Override } from './bucket.ts'
import { refuseCatalog } from './catalog-mistake.ts'
import { DEFAULT_ON_STORE_FAILURE, readLimits } from './declarations.ts'
import { readDefaults } from './defaults.ts'
import { knownLimit } from './known-limit.ts'
import { type BucketAsk, findBucket, type Lookup, lookup } from './lookup.ts'
import { BUILT_IN_LIMITS } from './names.ts'
import { type IdPolicy, MAX_OVERRIDES, readOverrides } from './overrides.ts'
import type { CatalogWarning, Rate } from './rate.ts'

export type { Bucket, LimitDefinition, OnStoreFailure, Override } from './bucket.ts'

export interface Catalog {
  /** By name; the built-in limits are always among them. */
  readonly limits: ReadonlyMap<string, LimitDefinition>
  readonly warnings: readonly CatalogWarning[]
  /** Throws for what the catalog does not know or cannot read. A disabled limit is no mistake. */
  resolve(ask: BucketAsk): Bucket
  overrides(name: string): Iterable<Override>
}

/** Documents, or sections of one: all go the same way, and mistakes between them are found too. */
export interface CatalogSources {
  readonly limits?: readonly Node[]
  readonly defaults?: readonly Node[]
  readonly overrides?: readonly Node[]
  readonly policy?: IdPolicy
}

/** All or nothing: the first mistake refuses every document. */
export const buildCatalog = (sources: CatalogSources): Catalog => {
  const drafts = builtInDrafts()
  const warnings: CatalogWarning[] = []
  for (const document of sources.limits ?? []) declare(document, drafts, warnings)
  for (const document of sources.defaults ?? []) {
    for (const { name, rate, at } of readDefaults(document, drafts)) {
      setDefault(drafts, name, rate, at, warnings)
    }
  }
  const found = new Map<string, Map<string, Override>>()
  for (const document of sources.overrides ?? []) {
    const table = { limits: drafts, policy: sources.policy ?? {}, found }
    for (const warning of readOverrides(document, table)) warnings.push(warning)
    refuseTooMany(found, document.at)
  }
  const lookups = new Map(
    [...drafts].map(([name, draft]) => [name, finish(draft, found.get(name))]),
  )
  return {
    limits: new Map([...lookups].map(([name, { definition }]) => [name, definition])),
    warnings,
    resolve: (ask) => findBucket(knownLimit(ask.limit, lookups), ask),
    overrides: (name) => knownLimit(name, lookups).overrides.values(),
  }
}

interface Draft extends Omit<LimitDefinition, 'overrideCount' | 'default'> {
  readonly declaredAt?: Position
  readonly default?: { readonly limit: GcraLimit; readonly at: Position }
}

type Drafts = Map<string, Draft>

const builtInDrafts = (): Drafts =>
  new Map(
    BUILT_IN_LIMITS.map((limit) => [
      limit.name,
      { ...limit, onStoreFailure: DEFAULT_ON_STORE_FAILURE },
    ]),
  )

function declare(document: Node, drafts: Drafts, warnings: CatalogWarning[]): void {
  for (const { name, idFormat, onStoreFailure, rateFrom, rate, at } of readLimits(document)) {
    const known = drafts.get(name)
    if (known?.declaredAt !== undefined) refuseTwice(name, 'declared', known.declaredAt, at)
    const from = rateFrom === undefined ? {} : { rateFrom }
    drafts.set(name, { ...known, ...from, name, idFormat, onStoreFailure, declaredAt: at })
    if (rate !== undefined) setDefault(drafts, name, rate, at, warnings)
  }
}

function setDefault(
  drafts: Drafts,
  name: string,
  rate: Rate,
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
  { declaredAt: _, default: rate, ...head }: Draft,
  overrides: ReadonlyMap<string, Override> = new Map(),
): Lookup {
  const given = rate === undefined ? {} : { default: rate.limit }
  return lookup({ ...head, ...given, overrideCount: overrides.size }, overrides)
}

function refuseTooMany(found: ReadonlyMap<string, { size: number }>, at: Position): void {
  const total = [...found.values()].reduce((sum, { size }) => sum + size, 0)
  if (total <= MAX_OVERRIDES) return
  const rule = `must be at most ${MAX_OVERRIDES}`
  refuseCatalog({ code: 'OVERRIDES_TOO_MANY', thing: 'overrides', rule, finding: `${total}`, at })
}
