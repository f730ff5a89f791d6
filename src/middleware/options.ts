/** The options of a gate, the same in every framework. */
import type { Store } from '../core/store.ts'
import type { OnStoreFailure } from '../requests/catalog/definition.ts'
import type { RateOptions } from '../requests/limiter/typed-limiter.ts'
import type { Limiter } from '../requests/limiter/verbs.ts'
import type { AddressRules, ProxyOptions } from './client.ts'
import type { HeaderForm } from './header-forms.ts'
import type { RefusalOptions, RefusedRequest } from './refusal.ts'
import type { WarningSink } from './warnings.ts'
import type { Who } from './who.ts'

/** Tokens that a request costs; 1 unless told. 0 only looks. */
export type RequestCost<Ask> = number | ((request: Ask) => number | Promise<number>)

/** How the handler behind the gate ended. */
export interface HandlerOutcome<Ask> {
  readonly request: Ask
  readonly status: number
  /** What it threw, where the framework shows it. */
  readonly error?: unknown
}

export interface OwnTerms<Ask> {
  /** Instead of the gate's own `who`. */
  readonly who?: Who<Ask>
  /** Instead of the gate's own `cost`. */
  readonly cost?: RequestCost<Ask>
}

/** A limit with its rate, and perhaps with a `who` and a `cost` of its own. */
export interface InlineLimit<Ask>
  extends Omit<RateOptions, 'id' | 'ipv6Prefix' | 'rateFrom' | 'subjectMayRaise'>,
    OwnTerms<Ask> {}

/** A limit of a given limiter. */
export type NamedLimit<Ask, Name extends string> = Name | ({ readonly limit: Name } & OwnTerms<Ask>)

/** What a gate needs of a limiter. By its definitions names and costs are checked when the gate is made. */
type GateLimiter<Name extends string> = Pick<Limiter<Name>, 'spend' | 'refund'> &
  Partial<Pick<Limiter<Name>, 'definition'>>

export interface InlineLimits<Ask> {
  /** By name. All are charged together or not at all. */
  readonly limits: { readonly [name: string]: InlineLimit<Ask> }
  /** Where the buckets are; in this process's memory unless told. */
  readonly store?: Store
  readonly limiter?: never
}

interface NamedLimits<Ask, Name extends string> {
  readonly limiter: GateLimiter<Name>
  /** One of its limits or several: all are charged together or not at all. */
  readonly limits: NamedLimit<Ask, NoInfer<Name>> | readonly NamedLimit<Ask, NoInfer<Name>>[]
  readonly store?: never
}

export interface SharedOptions<Ask> extends OwnTerms<Ask> {
  /** True: the request passes uncounted. */
  readonly skip?: (request: Ask) => boolean | Promise<boolean>
  /** Status, body and headers of a refusal; 429 with problem details unless told. */
  readonly refusal?:
    | RefusalOptions
    | ((refused: RefusedRequest<Ask>) => RefusalOptions | Promise<RefusalOptions>)
  /** While the store is down, instead of what each limit says. */
  readonly onStoreFailure?: OnStoreFailure
  /** `draft-10` unless told; several together; false for none. `Retry-After` is always sent. */
  readonly headers?: HeaderForm | readonly HeaderForm[] | false
  /** Gives back what a request cost if its handler fails: with a 5xx, or as the function says. */
  readonly refund?: boolean | ((outcome: HandlerOutcome<Ask>) => boolean)
  /** The proxies in front; unless told, what the framework is set to trust. */
  readonly proxy?: ProxyOptions
  /** How much of an IPv6 address tells clients apart: 32 to 64 bits, 64 unless told. */
  readonly ipv6Prefix?: number
  /** Where warnings go, each once; to the console unless told. */
  readonly warn?: WarningSink
}

export type GateOptions<Ask, Name extends string = string> = SharedOptions<Ask> &
  (InlineLimits<Ask> | NamedLimits<Ask, Name>)

/** A limit as the gate charges it. */
export interface ChargeRule<Ask> {
  readonly limit: string
  readonly who: Who<Ask>
  readonly cost: RequestCost<Ask>
}

/** The options with nothing left open. */
export interface GateRules<Ask> {
  readonly limiter: GateLimiter<string>
  readonly charges: readonly ChargeRule<Ask>[]
  readonly skip: SharedOptions<Ask>['skip']
  readonly refusal: NonNullable<SharedOptions<Ask>['refusal']>
  readonly onStoreFailure: OnStoreFailure | undefined
  readonly forms: readonly HeaderForm[]
  readonly refunds: ((outcome: HandlerOutcome<Ask>) => boolean) | undefined
  readonly addresses: AddressRules
  readonly warn: WarningSink | undefined
}
