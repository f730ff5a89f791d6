/**
 * The abilities of the service and how a right is narrowed. Seed: "w3 Rate Limit Protocol".
 *
 * A child may do what its parent may: `with` is equal, and every caveat of the parent is `"*"` or equal
 * to the child's. Caveats that we do not know bind as well: what nobody understands must not be
 * ignored. `rate-limit/*` covers every ability below it and is no ability itself.
 */
import { isDeepStrictEqual } from 'node:util'
import { isLink } from '@ucanto/core'
import { capability, Failure, Schema } from '@ucanto/validator'

export type Ability =
  | 'rate-limit/add'
  | 'rate-limit/list'
  | 'rate-limit/remove'
  | 'rate-limit/set'
  | 'rate-limit/get'
  | 'rate-limit/query'
  | 'rate-limit/history'
  | 'ucan/revoke'

/** What can be delegated but not invoked. */
export const WHOLE_NAMESPACE = 'rate-limit/*'

interface Claim {
  readonly with: string
  readonly nb: Readonly<Record<string, unknown>>
}

type Derivation = { ok: Record<never, never>; error?: never } | { ok?: never; error: Failure }

export const derives = (child: Claim, parent: Claim): Derivation => {
  if (child.with !== parent.with) {
    return no(`${child.with} violates imposed with constraint ${parent.with}`)
  }
  for (const [name, imposed] of Object.entries(parent.nb)) {
    const claimed = Object.hasOwn(child.nb, name) ? child.nb[name] : undefined
    if (imposed === '*' || isEqual(claimed, imposed)) continue
    return no(`${describe(claimed)} violates imposed ${name} constraint ${describe(imposed)}`)
  }
  return { ok: {} }
}

/** Every caveat is kept, whatever it is, so that `derives` sees it; what it must be is read later. */
const define = <A extends Ability>(can: A) =>
  capability({
    can,
    with: Schema.did(),
    nb: Schema.dictionary({ value: Schema.unknown() }),
    derives,
  })

export type Definition = ReturnType<typeof define<Ability>>

/** A map: an ability such as `rate-limit/constructor` finds nothing that was not put here. */
export const DEFINITIONS: ReadonlyMap<string, Definition> = new Map(
  (
    [
      'rate-limit/add',
      'rate-limit/list',
      'rate-limit/remove',
      'rate-limit/set',
      'rate-limit/get',
      'rate-limit/query',
      'rate-limit/history',
      'ucan/revoke',
    ] satisfies Ability[]
  ).map((can) => [can, define<Ability>(can)]),
)

export const isAbility = (can: string): can is Ability => DEFINITIONS.has(can)

function isEqual(one: unknown, other: unknown): boolean {
  if (isLink(one) && isLink(other)) return `${one}` === `${other}`
  return isDeepStrictEqual(one, other)
}

const no = (message: string): Derivation => ({ error: new Failure(message) })

function describe(value: unknown): string {
  if (typeof value === 'string') return value
  return isLink(value) ? `${value}` : (JSON.stringify(value) ?? 'nothing')
}
