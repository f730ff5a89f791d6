/**
 * The abilities of the service: how a right to one is narrowed, and how the fields of an invocation
 * are read. Seed: "w3 Rate Limit Protocol".
 *
 * A child may do what its parent may: `with` is equal, and every caveat of the parent is `"*"` or
 * equal to the child's. Caveats that we do not know bind as well: a restriction must not be ignored
 * for being new. `rate-limit/*` covers every ability below it and is no ability itself.
 */
import { isDeepStrictEqual } from 'node:util'
import { isLink } from '@ucanto/core'
import type { Capability } from '@ucanto/interface'
import { quote } from '../../core/errors.ts'
import { type Instant, instant } from '../../core/time.ts'
import { refuseSubject } from '../mistake.ts'
import { type Ability, MAX_UCAN_SECONDS } from './token.ts'

/** What can be delegated but not invoked. */
export const WHOLE_NAMESPACE = 'rate-limit/*'

/** What an invocation, or a link of its chain, claims to be allowed. */
export interface ClaimedRight {
  readonly can: string
  readonly with: string
  readonly nb: Readonly<Record<string, unknown>>
}

type Derivation =
  /** What the issuer of the parent must be allowed in turn. */
  | { readonly ok: ClaimedRight; readonly error?: undefined }
  /** Written only if someone will read it. */
  | { readonly ok?: undefined; readonly error: () => string }

/** Whether a delegated capability allows what is claimed. Fields that it does not name stay as claimed. */
export const derive = (claim: ClaimedRight, parent: Capability): Derivation => {
  const violation = (name: string, claimed: unknown, imposed: unknown): Derivation => ({
    error: () => `${describe(claimed)} violates imposed ${name} constraint ${describe(imposed)}`,
  })
  if (!covers(parent.can, claim.can)) return violation('can', claim.can, parent.can)
  if (parent.with !== claim.with && parent.with !== EVERYTHING) {
    return violation('with', claim.with, parent.with)
  }
  const caveats: Readonly<Record<string, unknown>> = { ...(parent.nb ?? {}) }
  for (const [name, imposed] of Object.entries(caveats)) {
    const claimed = Object.hasOwn(claim.nb, name) ? claim.nb[name] : undefined
    if (imposed !== '*' && !isEqual(claimed, imposed)) return violation(name, claimed, imposed)
  }
  return { ok: { ...claim, nb: { ...claim.nb, ...caveats } } }
}

/** All that the issuer has a right over. */
const EVERYTHING = 'ucan:*'

/** `*` and `rate-limit/*` cover what is below them; `rate-limit/a*` covers only itself. */
export const covers = (pattern: string, ability: string): boolean => {
  if (pattern === '*' || pattern === ability) return true
  return pattern.endsWith('/*') && ability.startsWith(pattern.slice(0, -1))
}

/** A set: an ability such as `rate-limit/constructor` finds nothing that was not put here. */
export const ABILITIES: ReadonlySet<string> = new Set<Ability>([
  'rate-limit/add',
  'rate-limit/list',
  'rate-limit/remove',
  'rate-limit/set',
  'rate-limit/get',
  'rate-limit/query',
  'rate-limit/history',
  'ucan/revoke',
])

export const isAbility = (can: string): can is Ability => ABILITIES.has(can)

/** The fields of an invocation (`nb`). */
export interface Caveats {
  text(name: string): string
  optionalText(name: string): string | undefined
  /** One text, or a list of at least one. */
  texts(name: string): readonly string[]
  number(name: string): number
  optionalNumber(name: string): number | undefined
  optionalFlag(name: string): boolean
  /** In whole seconds since the epoch, as UCAN counts time. */
  optionalMoment(name: string): Instant | undefined
}

/** Ids that one removal may name. */
const MAX_LIST = 100

/** Throws for a field that is not known; each reader, for one that is missing or of another type. */
export const readCaveats = (
  ability: string,
  nb: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Caveats => {
  refuseUnknown(ability, nb, known)
  const raw = (name: string): unknown => (Object.hasOwn(nb, name) ? nb[name] : undefined)
  const wrong = (name: string, rule: string): never => {
    const [thing, finding] = [`${ability} ${name}`, kindOf(raw(name))]
    return refuseSubject({ code: 'RATE_FIELD_INVALID', thing, rule, finding })
  }
  const optional = <T>(name: string, read: (name: string) => T): T | undefined =>
    raw(name) === undefined ? undefined : read(name)

  const text = (name: string): string => {
    const value = raw(name)
    return typeof value === 'string' ? value : wrong(name, 'must be text')
  }
  const number = (name: string): number => {
    const value = raw(name)
    return typeof value === 'number' ? value : wrong(name, 'must be a number')
  }
  const moment = (name: string): Instant => {
    const value = number(name)
    const isWhole = Number.isInteger(value) && Math.abs(value) <= MAX_UCAN_SECONDS
    return isWhole ? instant(value * 1_000_000) : wrong(name, 'must be whole seconds since 1970')
  }
  return {
    text,
    number,
    optionalText: (name) => optional(name, text),
    optionalNumber: (name) => optional(name, number),
    optionalMoment: (name) => optional(name, moment),
    optionalFlag: (name) => {
      const value = raw(name) ?? false
      return typeof value === 'boolean' ? value : wrong(name, 'must be true or false')
    },
    texts: (name) => {
      const value = raw(name)
      const list: unknown[] = Array.isArray(value) ? value : [value]
      const found = list.filter((item) => typeof item === 'string')
      const isList = found.length === list.length && found.length >= 1 && found.length <= MAX_LIST
      return isList ? found : wrong(name, `must be text, or a list of 1 to ${MAX_LIST} texts`)
    },
  }
}

function refuseUnknown(
  ability: string,
  nb: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const unknown = Object.keys(nb).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const rule = `takes only ${known.join(', ')}`
  refuseSubject({ code: 'RATE_FIELD_INVALID', thing: ability, rule, finding: quote(unknown) })
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function isEqual(one: unknown, other: unknown): boolean {
  if (isLink(one) && isLink(other)) return `${one}` === `${other}`
  return isDeepStrictEqual(one, other)
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value
  return isLink(value) ? `${value}` : (JSON.stringify(value) ?? 'nothing')
}
