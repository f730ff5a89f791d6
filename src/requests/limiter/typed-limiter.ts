/** A request limiter opened from plain values: limits in the program, no document and no configuration. */
import { formatDuration } from '../../core/duration.ts'
import { type Span, span } from '../../core/time.ts'
import { treeOf } from '../../documents/from-value.ts'
import { refuseDocument } from '../../documents/node.ts'
import { type Catalog, createCatalog } from '../catalog/catalog.ts'
import {
  knownLimit,
  type OnStoreFailure,
  PLAIN_VOCABULARY,
  type Vocabulary,
} from '../catalog/definition.ts'
import type { IdPolicy } from '../catalog/documents.ts'
import type { IdFormat, PLAIN_FORMATS } from '../ids/id-format.ts'
import { createLimiter, type Limiter, type LimiterOptions } from './verbs.ts'

interface LimitBasics<Format extends string> {
  /** What the ids of this limit are; any text unless told. `client` for addresses of clients. */
  readonly id?: Format
  /** Beside `id: 'client'`: how many bits of an IPv6 address tell clients apart; 64 unless told. */
  readonly ipv6Prefix?: number
  /** What is answered while the store is down; `closed`, which refuses, unless told. */
  readonly onStoreFailure?: OnStoreFailure
}

/** `burst` fit at once; `count` come back every `period`, as many as the burst unless told. */
export interface RateOptions<Format extends string = PlainFormat> extends LimitBasics<Format> {
  readonly burst: number
  readonly count?: number
  /** As text (`1m`, `1h30m`) or as a length. */
  readonly period: string | Span
  /** Decided, counted and told, but never refused: to try a limit before it bites. */
  readonly shadow?: boolean
  /** Scaled down to the smallest rate of the subjects that a charge names. */
  readonly rateFrom?: 'subject'
  /** With `rateFrom`: the rate of a subject may raise the limit too. */
  readonly subjectMayRaise?: boolean
}

/** At most `atOnce` hold a place at one time; one that is not released comes back after `heldFor`. */
export interface PlaceOptions<Format extends string = PlainFormat> extends LimitBasics<Format> {
  readonly atOnce: number
  readonly heldFor: string | Span
}

export type LimitOptions<Format extends string = PlainFormat> =
  | RateOptions<Format>
  | PlaceOptions<Format>

/** Another rate for some ids of a limit. */
export interface OverrideOptions extends Pick<RateOptions, 'burst' | 'count' | 'period'> {
  readonly ids: readonly (string | { readonly id: string; readonly comment?: string })[]
}

type PlainFormat = keyof typeof PLAIN_FORMATS

export interface TypedLimiterOptions<Name extends string, Format extends string = PlainFormat>
  extends Omit<LimiterOptions, 'catalog'> {
  readonly limits: { readonly [Limit in Name]: LimitOptions<Format> }
  readonly overrides?: { readonly [Limit in Name]?: OverrideOptions | readonly OverrideOptions[] }
  readonly policy?: IdPolicy
  /** More forms of ids and built-in limits, such as `ACME` of `headgate/acme`. */
  readonly vocabulary?: Vocabulary
}

/**
 * Checks the limits like a document, and throws at the first mistake.
 *
 * @example
 * import { limiter, memory } from 'headgate'
 *
 * const logins = limiter({ store: memory(), limits: { Logins: { burst: 3, period: '1m' } } })
 * const answer = await logins.spend('Logins', 'ann')
 * if (!answer.allowed) console.log(`try again in ${answer.retryAfterSeconds} s`)
 * console.log(answer.remaining)
 */
export function limiter<const Name extends string>(
  options: TypedLimiterOptions<Name>,
): Limiter<Name>
export function limiter<const Name extends string>(
  options: TypedLimiterOptions<Name, IdFormat> & { readonly vocabulary: Vocabulary },
): Limiter<Name>
export function limiter(options: TypedLimiterOptions<string, IdFormat>): Limiter {
  const { limits, overrides = {}, policy = {}, vocabulary = PLAIN_VOCABULARY, ...rest } = options
  refuseNoStore(rest.store)
  const texts = Object.fromEntries(
    Object.entries(limits).map(([name, fields]) => [name, withTextDurations(fields)]),
  )
  const catalog = createCatalog(
    { usualFormat: 'opaque', ...vocabulary },
    {
      limits: [treeOf(texts, 'limits')],
      overrides: [treeOf(listOf(overrides), 'overrides')],
      policy,
    },
  )
  refuseUnlimited(catalog, Object.keys(limits))
  return createLimiter({ ...rest, catalog: () => catalog })
}

/** As an overrides document has them: a list of maps from a limit to a rate and its ids. */
function listOf(overrides: TypedLimiterOptions<string>['overrides'] & object) {
  return Object.entries(overrides).flatMap(([name, given]) =>
    [given ?? []].flat().map((override) => {
      const { count = override.burst, ...rest } = override
      return { [name]: withTextDurations({ ...rest, count }) }
    }),
  )
}

/** Readers of documents take lengths of time as text only: `90` alone says no unit. */
function withTextDurations(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null) return fields
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    const isLength = typeof value === 'number' && (name === 'period' || name === 'heldFor')
    return [name, isLength ? formatDuration(span(value)) : value]
  })
  return Object.fromEntries(entries)
}

/** Types do not bind callers in JavaScript, and the first request would be a late place to find out. */
function refuseNoStore(store: unknown): void {
  if (typeof store === 'object' && store !== null && 'transact' in store) return
  const finding = store === undefined ? 'nothing' : `a value of type ${typeof store} that is none`
  const rule = 'must be a store, such as memory()'
  refuseDocument({ code: 'FIELD_TYPE', thing: 'store', rule, finding })
}

/** In a document such a limit waits for its overrides; in a program it is a slip. */
function refuseUnlimited({ limits }: Catalog, named: readonly string[]): void {
  for (const name of named) {
    const { default: rate, places, overrideCount } = knownLimit(name, limits)
    if (rate !== undefined || places !== undefined || overrideCount > 0) continue
    refuseDocument({
      code: 'FIELD_MISSING',
      thing: `limits.${name}`,
      rule: 'must hold burst and period, or atOnce and heldFor',
      finding: 'neither',
    })
  }
}
