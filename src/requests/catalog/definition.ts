/** A limit by its name: what defines it, the words it is defined in, and the bucket of one id. */
import { assert, type Position, quote, type ThrowMistake, throwMistake } from '../../core/errors.ts'
import type { GcraLimit } from '../../core/gcra.ts'
import type { Span } from '../../core/time.ts'
import { suggestion } from '../../documents/field.ts'
import { clientRules, type IdFormat, type IdRules, PLAIN_FORMATS } from '../ids/id-format.ts'

/** `open` admits while the store is down, `closed` refuses. */
export type OnStoreFailure = 'open' | 'closed'

/** A limit that every catalog of a vocabulary knows, also without a rate. */
export interface BuiltInLimit {
  readonly number: number
  readonly name: string
  readonly idFormat: IdFormat
}

/** Which forms of ids limits may have, and which limits come built in. */
export interface Vocabulary {
  readonly formats: { readonly [Format in IdFormat]?: IdRules }
  readonly builtIn: readonly BuiltInLimit[]
  /** What ids are where a declared limit does not say; absent: it must. */
  readonly usualFormat?: IdFormat
}

/** Ids are any text unless a limit says otherwise, and no limit is built in. */
export const PLAIN_VOCABULARY: Vocabulary = {
  formats: PLAIN_FORMATS,
  builtIn: [],
  usualFormat: 'opaque',
}

/** At most `atOnce` hold a place at one time; a place that is not released comes back after `heldFor`. */
export interface Places {
  readonly atOnce: number
  readonly heldFor: Span
}

export interface LimitDefinition {
  readonly name: string
  /** Of built-in limits: what their bucket keys begin with. */
  readonly number?: number
  readonly idFormat: IdFormat
  /** Of clients: how many bits of an IPv6 address tell them apart, if not 64. */
  readonly ipv6Prefix?: number
  readonly onStoreFailure: OnStoreFailure
  /** By what the limit is scaled: the smallest rate of the subjects that a charge names. */
  readonly rateFrom?: 'subject'
  /** The rate of a subject may also be above that of the limit. */
  readonly subjectMayRaise?: true
  /** Decided, counted and told, but never refused. */
  readonly shadow?: true
  /** Instead of a rate: how many may hold a place at once. */
  readonly places?: Places
  /** Absent: only ids with an override are limited. */
  readonly default?: GcraLimit
  readonly overrideCount: number
}

export interface Override {
  /** Canonical, and so what a bucket looks for. */
  readonly id: string
  /** As the document has it: the names of a set cannot be told from their hash. */
  readonly written: string
  /** `3:12345678`. For limits per account and identifier, the account's: `4:1337`. */
  readonly key: string
  readonly limit: GcraLimit
  /** Empty if there is none. */
  readonly comment: string
  readonly at: Position
}

export interface Bucket {
  readonly definition: LimitDefinition
  /** Canonical: two spellings of one address have one bucket. */
  readonly id: string
  /** `3:12345678`, or `NewFoosPerIPAddress:10.0.0.1` for a declared limit. */
  readonly key: string
  /** What decides its partition: the account, the address, the domain; the first part of the id. */
  readonly tag: string
  /** Absent: neither a default nor an override, so nothing is limited. */
  readonly limit?: GcraLimit
  readonly source: 'default' | 'override' | 'disabled'
  readonly override?: Pick<Override, 'id' | 'comment'>
}

/** Other names are declared, and stand in keys in place of a number: hence no digit in front. */
export const LIMIT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/

export type CatalogErrorCode =
  | 'LIMIT_UNKNOWN'
  | 'LIMIT_NAME_INVALID'
  | 'LIMIT_DUPLICATE'
  | 'LIMIT_TOO_FAST'
  | 'LIMIT_TOO_LARGE'
  | 'ID_INVALID'
  | 'ID_MISSING'
  | 'ID_DUPLICATE'
  | 'OVERRIDES_TOO_MANY'
  | 'PARTS_MISSING'
  | 'PARTS_INVALID'
  | 'PARTS_UNSUPPORTED'
  | 'PARTS_WITH_ID'

export const refuseCatalog: ThrowMistake<CatalogErrorCode> = throwMistake

/** An undeclared name is a mistake, never a limit that happens to be off. */
export const knownLimit = <T>(name: string, known: ReadonlyMap<string, T>, at?: Position): T => {
  const found = known.get(name)
  if (found !== undefined) return found
  return refuseCatalog({
    code: 'LIMIT_UNKNOWN',
    thing: 'the name of a limit',
    rule: 'must be built in or declared under limits',
    finding: `${quote(name)}${suggestion(name, known.keys())}`,
    ...(at === undefined ? {} : { at }),
  })
}

/** The rules of a limit's ids. A format that the vocabulary lacks was refused when it was declared. */
export const rulesOf = (
  { formats }: Vocabulary,
  { idFormat, ipv6Prefix }: Pick<LimitDefinition, 'idFormat' | 'ipv6Prefix'>,
): IdRules => {
  const rules = ipv6Prefix === undefined ? formats[idFormat] : clientRules(ipv6Prefix)
  assert(rules !== undefined, () => `an id format of this vocabulary: ${idFormat}`)
  return rules
}
