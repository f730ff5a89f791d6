/** Reads the options of a gate: strictly, and once, when it is made. */
import { quote } from '../core/errors.ts'
import type { Store } from '../core/store.ts'
import { suggestion } from '../documents/field.ts'
import { type DocumentErrorCode, refuseDocument } from '../documents/node.ts'
import { CLIENT_NETWORK_BITS, CLIENT_NETWORK_RANGE } from '../net/client-address.ts'
import { canonicalRange } from '../net/range-table.ts'
import type { LimitDefinition, OnStoreFailure } from '../requests/catalog/definition.ts'
import { limiter as limiterOf, type RateOptions } from '../requests/limiter/typed-limiter.ts'
import { memory } from '../stores/memory/index.ts'
import type { ProxyOptions } from './client.ts'
import type { Door } from './door.ts'
import { HEADER_FORMS, type HeaderForm } from './header-forms.ts'
import type {
  ChargeRule,
  GateOptions,
  GateRules,
  HandlerOutcome,
  InlineLimits,
  OwnTerms,
  SharedOptions,
} from './options.ts'
import { WHO_WORDS } from './who.ts'

/** Throws at the first mistake. What a document has to say about rates is said in the same words. */
export const readGateOptions = <Ask>(
  door: Door<Ask>,
  options: GateOptions<Ask>,
): GateRules<Ask> => {
  const { name } = door
  refuseUnknown(name, options, GATE_OPTIONS)
  const { who = 'address', cost = 1, skip, refusal = {}, refund = false, warn } = options
  checkTerms(door, name, { who, cost })
  checkFunction(`${name}.skip`, skip)
  checkFunction(`${name}.warn`, warn)
  checkRefusal(name, refusal)
  if (typeof refund !== 'boolean') checkFunction(`${name}.refund`, refund)
  return {
    ...readLimits(door, options, { who, cost }),
    skip,
    refusal,
    onStoreFailure: readStoreFailure(name, options.onStoreFailure),
    forms: readForms(`${name}.headers`, options.headers ?? 'draft-10'),
    refunds: refund === true ? hasFailed : refund || undefined,
    addresses: {
      proxy: readProxy(`${name}.proxy`, options.proxy),
      ipv6Prefix: readPrefix(`${name}.ipv6Prefix`, options.ipv6Prefix ?? CLIENT_NETWORK_BITS),
    },
    warn,
  }
}

const hasFailed = ({ status }: HandlerOutcome<unknown>): boolean => status >= 500

/** The guide has a row for each. */
export const GATE_OPTIONS = [
  'limits',
  'limiter',
  'store',
  'who',
  'cost',
  'skip',
  'refusal',
  'onStoreFailure',
  'headers',
  'refund',
  'proxy',
  'ipv6Prefix',
  'warn',
]

/** What other limiters call it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...named('period, in each of limits', 'windowMs', 'timeWindow', 'duration'),
  ...named('burst, in each of limits', 'limit', 'max', 'points'),
  ...named('who', 'keyGenerator', 'id'),
  ...named('skip', 'allowList', 'whitelist'),
  ...named('refusal', 'message', 'statusCode', 'handler', 'errorResponseBuilder', 'onLimited'),
  ...named('headers', 'standardHeaders', 'legacyHeaders', 'enableDraftSpec'),
  ...named('refund', 'skipFailedRequests', 'skipSuccessfulRequests'),
  ...named("onStoreFailure: 'open'", 'passOnStoreError', 'skipOnError'),
  ...named('ipv6Prefix', 'ipv6Subnet'),
  ...named('proxy', 'trustProxy'),
}

function named(ours: string, ...theirs: readonly string[]): Record<string, string> {
  return Object.fromEntries(theirs.map((name) => [name, ours]))
}

function refuseUnknown(thing: string, given: object, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) {
    refuse('FIELD_TYPE', thing, 'must be an object of options', describe(given))
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  // Only where the options of other limiters would stand: deeper in, these names are not known.
  const isOption = known === GATE_OPTIONS && Object.hasOwn(ELSEWHERE, unknown)
  const here = isOption ? ELSEWHERE[unknown] : undefined
  const hint = here === undefined ? suggestion(unknown, known) : ` (here it is ${here})`
  refuse('FIELD_UNKNOWN', thing, `may hold only ${known.join(', ')}`, `${quote(unknown)}${hint}`)
}

type Terms<Ask> = Omit<ChargeRule<Ask>, 'limit'>

function readLimits<Ask>(
  door: Door<Ask>,
  { limits, limiter, store }: GateOptions<Ask>,
  terms: Terms<Ask>,
): Pick<GateRules<Ask>, 'limiter' | 'charges'> {
  const thing = `${door.name}.limits`
  if (limiter === undefined) return readInline(door, limits, store, terms)
  if (store !== undefined) {
    const rule = 'must not be given beside limiter, which has its own'
    return refuse('FIELD_VALUE', `${door.name}.store`, rule, 'both')
  }
  const charges = [limits ?? []].flat().map((limit, i) => {
    if (typeof limit === 'string') return { limit, ...terms }
    refuseUnknown(`${thing}[${i}]`, limit, ['limit', 'who', 'cost'])
    checkTerms(door, `${thing}[${i}]`, limit)
    return { limit: limit.limit, who: limit.who ?? terms.who, cost: limit.cost ?? terms.cost }
  })
  if (charges.length === 0 || charges.some(({ limit }) => typeof limit !== 'string')) {
    return refuse('FIELD_VALUE', thing, 'must name limits of the given limiter', describe(limits))
  }
  if (typeof limiter?.spend !== 'function' || typeof limiter.refund !== 'function') {
    return refuse('FIELD_TYPE', `${door.name}.limiter`, 'must be a limiter', describe(limiter))
  }
  for (const { limit, cost } of charges) {
    const definition = limiter.definition?.(limit)
    if (definition !== undefined) checkDefinition(`${thing}.${limit}`, cost, definition)
  }
  return { limiter, charges }
}

/** A larger burst of an override may pay what the default cannot. */
function checkDefinition(thing: string, cost: unknown, definition: LimitDefinition): void {
  const { default: rate, places, overrideCount } = definition
  if (places !== undefined) refusePlaces(thing)
  if (rate !== undefined && overrideCount === 0) checkPrice(thing, cost, rate.burst)
}

function refusePlaces(thing: string): never {
  return refuse('FIELD_VALUE', thing, 'must be a rate: a gate holds no places', 'atOnce')
}

function readInline<Ask>(
  door: Door<Ask>,
  limits: InlineLimits<Ask>['limits'],
  store: Store = memory(),
  terms: Terms<Ask>,
): Pick<GateRules<Ask>, 'limiter' | 'charges'> {
  const thing = `${door.name}.limits`
  if (typeof limits === 'string' || Array.isArray(limits)) {
    const rule = 'must hold rates by their names; names alone need a limiter'
    return refuse('FIELD_TYPE', thing, rule, describe(limits))
  }
  if (typeof limits !== 'object' || limits === null || Object.keys(limits).length === 0) {
    const rule = 'must hold at least one limit, for example Api: { burst: 100, period: "1m" }'
    return refuse('FIELD_MISSING', thing, rule, describe(limits))
  }
  refuseInherited(thing, limits)
  const rates: [name: string, rate: RateOptions][] = []
  const charges = Object.entries(limits).map(([limit, declared]) => {
    if (typeof declared !== 'object' || declared === null) {
      return refuse('FIELD_TYPE', `${thing}.${limit}`, 'must be an object', describe(declared))
    }
    const { who, cost, ...rate } = declared
    if ('atOnce' in rate) return refusePlaces(`${thing}.${limit}`)
    const own = { who: who ?? terms.who, cost: cost ?? terms.cost }
    checkTerms(door, `${thing}.${limit}`, own)
    checkPrice(`${thing}.${limit}`, own.cost, rate.burst)
    rates.push([limit, rate])
    return { limit, ...own }
  })
  // Not by assignment: a limit of the name `__proto__` would vanish instead of being refused.
  return { limiter: limiterOf({ store, limits: Object.fromEntries(rates) }), charges }
}

/** `{ __proto__: { burst: 5 } }` declares no limit: it gives the object a prototype. */
function refuseInherited(thing: string, limits: object): void {
  const prototype: unknown = Object.getPrototypeOf(limits)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  refuse('FIELD_TYPE', thing, 'must be a plain object', 'one with a prototype (__proto__)')
}

function checkTerms<Ask>(door: Door<Ask>, thing: string, { who, cost }: OwnTerms<Ask>): void {
  if (typeof who === 'string' && !WHO_WORDS.includes(who)) {
    const rule = `must be a function or one of ${WHO_WORDS.join(', ')}`
    refuse('FIELD_VALUE', `${thing}.who`, rule, `${quote(who)}${suggestion(who, WHO_WORDS)}`)
  }
  if (who === 'user' && door.user === undefined) {
    const rule = 'must be a function: there is no place where every program keeps its user'
    refuse('FIELD_VALUE', `${thing}.who`, rule, quote(who))
  }
  if (typeof who !== 'string') checkFunction(`${thing}.who`, who)
  if (typeof cost === 'number') checkWhole(`${thing}.cost`, cost, 0, Number.MAX_SAFE_INTEGER)
  else checkFunction(`${thing}.cost`, cost)
}

/** A price that no bucket can pay would refuse every request. */
function checkPrice(thing: string, cost: unknown, burst: unknown): void {
  if (typeof cost !== 'number' || typeof burst !== 'number' || cost <= burst) return
  refuse('FIELD_VALUE', `${thing}.cost`, `must be at most the burst of ${burst}`, String(cost))
}

function checkRefusal(name: string, refusal: SharedOptions<never>['refusal'] & {}): void {
  if (typeof refusal === 'function') return
  const thing = `${name}.refusal`
  refuseUnknown(thing, refusal, ['status', 'body', 'headers'])
  const { status = 429, body = '', headers = {} } = refusal
  checkWhole(`${thing}.status`, status, 200, 599)
  if (WITHOUT_BODY.includes(status)) {
    refuse('FIELD_VALUE', `${thing}.status`, 'must be one that has a body', `${status}`)
  }
  if (!isSendable(body)) {
    refuse(
      'FIELD_TYPE',
      `${thing}.body`,
      'must be text, or an object that JSON can hold',
      describe(body),
    )
  }
  if (typeof headers !== 'object' || headers === null) {
    refuse(
      'FIELD_TYPE',
      `${thing}.headers`,
      'must be an object of texts by names',
      describe(headers),
    )
  }
  for (const [field, value] of Object.entries(headers))
    checkHeader(`${thing}.headers`, field, value)
}

/** Sent with one, some frameworks drop it and others throw. */
const WITHOUT_BODY = [204, 205, 304]

function isSendable(body: unknown): boolean {
  if (typeof body === 'string') return true
  if (typeof body !== 'object' || body === null) return false
  try {
    return JSON.stringify(body) !== undefined
  } catch {
    return false
  }
}

/** RFC 9110, sections 5.1 and 5.5: what Node and Fetch throw for when it is sent. */
function checkHeader(thing: string, name: string, value: unknown): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    refuse('FIELD_VALUE', thing, 'must have names of letters, digits and hyphens', quote(name))
  }
  if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return
  const rule = 'must be text of one line, in Latin-1'
  refuse('FIELD_VALUE', `${thing}.${name}`, rule, describe(value))
}

function readStoreFailure(name: string, given: unknown): OnStoreFailure | undefined {
  if (given === undefined || given === 'open' || given === 'closed') return given
  const thing = `${name}.onStoreFailure`
  return refuse('FIELD_VALUE', thing, 'must be open or closed', describe(given))
}

/** Two drafts write the same fields in two ways, so there can be one of them. */
function readForms(
  thing: string,
  given: SharedOptions<never>['headers'] & {},
): readonly HeaderForm[] {
  const forms = given === false ? [] : [given].flat()
  const unknown = forms.find((form) => !HEADER_FORMS.includes(form))
  if (unknown !== undefined) {
    const rule = `must be false or some of ${HEADER_FORMS.join(', ')}`
    refuse(
      'FIELD_VALUE',
      thing,
      rule,
      `${quote(String(unknown))}${suggestion(String(unknown), HEADER_FORMS)}`,
    )
  }
  const drafts = forms.filter((form) => form !== 'x-ratelimit')
  if (drafts.length > 1) {
    refuse('FIELD_VALUE', thing, 'must name one draft: all use the same fields', drafts.join(', '))
  }
  return forms
}

function readProxy(thing: string, proxy: ProxyOptions | undefined): ProxyOptions | undefined {
  if (proxy === undefined) return undefined
  refuseUnknown(thing, proxy, ['hops', 'trusted', 'header'])
  if (Object.keys(proxy).length !== 1) {
    return refuse('FIELD_VALUE', thing, 'must hold one of hops, trusted, header', describe(proxy))
  }
  if ('hops' in proxy) {
    checkWhole(`${thing}.hops`, proxy.hops, 1, MAX_HOPS)
    return proxy
  }
  if ('trusted' in proxy) return { trusted: readRanges(`${thing}.trusted`, proxy.trusted) }
  if (typeof proxy.header === 'string' && !/^(x-forwarded-for|forwarded|)$/i.test(proxy.header)) {
    return proxy
  }
  const rule = 'must name a header with one address; of a list of them, give hops or trusted'
  return refuse('FIELD_VALUE', `${thing}.header`, rule, describe(proxy.header))
}

/** No request has come through more; it only catches a number that is something else. */
const MAX_HOPS = 32

function readRanges(thing: string, ranges: readonly string[]): readonly string[] {
  if (!Array.isArray(ranges) || ranges.length === 0) {
    return refuse('FIELD_TYPE', thing, 'must be a list of addresses and ranges', describe(ranges))
  }
  return ranges.map((range) => {
    const canonical = typeof range === 'string' ? canonicalRange(range) : undefined
    if (canonical !== undefined) return canonical
    const rule = 'must hold addresses and ranges (10.0.0.0/8) without bits beyond their mask'
    return refuse('FIELD_VALUE', thing, rule, describe(range))
  })
}

function readPrefix(thing: string, bits: number): number {
  checkWhole(thing, bits, CLIENT_NETWORK_RANGE.min, CLIENT_NETWORK_RANGE.max)
  return bits
}

function checkWhole(thing: string, value: unknown, min: number, max: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
    return
  refuse('FIELD_VALUE', thing, `must be a whole number from ${min} to ${max}`, describe(value))
}

function checkFunction(thing: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return
  refuse('FIELD_TYPE', thing, 'must be a function', describe(value))
}

function refuse(code: DocumentErrorCode, thing: string, rule: string, finding: string): never {
  return refuseDocument({ code, thing, rule, finding })
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'string') return quote(value)
  return typeof value === 'object' ? `{ ${Object.keys(value).join(', ')} }` : String(value)
}
