/** The fields of an invocation (`nb`), read strictly: what is missing, unknown or of another type is refused. */
import { type Instant, instant } from '../../core/index.ts'
import { quote, refuse } from '../mistake.ts'

export interface Caveats {
  text(name: string): string
  optionalText(name: string): string | undefined
  /** One text, or a list of at least one. */
  texts(name: string): readonly string[]
  number(name: string): number
  optionalNumber(name: string): number | undefined
  optionalFlag(name: string): boolean
  /** A moment in whole seconds since the epoch, as UCAN counts time. */
  optionalMoment(name: string): Instant | undefined
}

/** Ids that one removal may name. */
const MAX_LIST = 100

/** Seconds within which an `Instant` is exact. */
const MAX_SECONDS = 9_000_000_000

export const readCaveats = (
  ability: string,
  nb: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Caveats => {
  refuseStrangers(ability, nb, known)
  const raw = (name: string): unknown => (Object.hasOwn(nb, name) ? nb[name] : undefined)
  const wrong = (name: string, rule: string): never =>
    refuse({
      code: 'RATE_FIELD_INVALID',
      thing: `${ability} ${name}`,
      rule,
      finding: kindOf(raw(name)),
    })
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
  return {
    text,
    number,
    optionalText: (name) => optional(name, text),
    optionalNumber: (name) => optional(name, number),
    optionalFlag: (name) => {
      const value = raw(name) ?? false
      return typeof value === 'boolean' ? value : wrong(name, 'must be true or false')
    },
    texts: (name) => {
      const value = raw(name)
      const list: unknown[] = Array.isArray(value) ? value : [value]
      const found = list.filter((item) => typeof item === 'string')
      if (found.length === list.length && found.length >= 1 && found.length <= MAX_LIST)
        return found
      return wrong(name, `must be text, or a list of 1 to ${MAX_LIST} texts`)
    },
    optionalMoment: (name) =>
      optional(name, () => {
        const value = number(name)
        if (Number.isInteger(value) && Math.abs(value) <= MAX_SECONDS)
          return instant(value * 1_000_000)
        return wrong(name, 'must be whole seconds since 1970')
      }),
  }
}

function refuseStrangers(
  ability: string,
  nb: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const strange = Object.keys(nb).find((name) => !known.includes(name))
  if (strange !== undefined) {
    const rule = `takes only ${known.join(', ')}`
    refuse({ code: 'RATE_FIELD_INVALID', thing: ability, rule, finding: quote(strange) })
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
