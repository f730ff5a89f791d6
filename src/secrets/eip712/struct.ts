/**
 * Structs, lists and optional values. EIP-712, "Definition of encodeType"; CIP-40, "Mapping
 * TypeScript to EIP-712 types".
 */
import { type Field, readFields, readList, refuseField } from '../../documents/index.ts'
import { bool } from './atoms.ts'
import { concat, keccak, keccakText, toHex } from './keccak.ts'
import type { Type } from './type.ts'

export interface StructType<T> extends Type<T> {
  /** The definition, followed by those it refers to, sorted by name. */
  readonly typeString: string
  readonly typeHash: Uint8Array
}

type Members = Readonly<Record<string, Type<unknown>>>
type Struct<M extends Members> = { readonly [Name in keyof M]: M[Name]['zero'] }

/** Members are sorted by name; only the deployed requests put one of theirs first. */
export const struct = <M extends Members>(
  name: string,
  members: M,
  first?: keyof M,
): StructType<Struct<M>> => {
  const sorted = Object.entries(members).sort(([a], [b]) =>
    a === first ? -1 : b === first ? 1 : order(a, b),
  )
  const definition = `${name}(${sorted.map(([member, { name }]) => `${name} ${member}`).join(',')})`
  const inner = sorted.flatMap(([, type]) => [...type.structs])
  const structs = new Map([[name, definition], ...inner])
  const typeString = typeStringOf(name, structs)
  const typeHash = keccakText(typeString)
  const build = (value: (member: string, type: Type<unknown>) => unknown): Struct<M> =>
    Object.fromEntries(sorted.map(([member, type]) => [member, value(member, type)])) as Struct<M>
  return {
    name,
    structs,
    typeString,
    typeHash,
    zero: build((_, type) => type.zero),
    encode: remembered((value) =>
      keccak(concat(typeHash, ...sorted.map(([member, type]) => type.encode(value[member])))),
    ),
    read: (field) => {
      const fields = readFields(field, { required: Object.keys(members), optional: [] })
      return build((member, type) => type.read(held(fields, member)))
    },
  }
}

/** A list of at most `most` values. */
export const list = <T>(item: Type<T>, most: number): Type<readonly T[]> => ({
  name: `${item.name}[]`,
  structs: item.structs,
  zero: [],
  encode: (values) => keccak(concat(...values.map((value) => item.encode(value)))),
  read: (field) => {
    const items = readList(field)
    if (items.length <= most) return items.map((each) => item.read(each))
    return refuseField(field, 'FIELD_VALUE', `must hold at most ${most}`, `${items.length}`)
  },
})

export interface Optional<T> {
  readonly defined: boolean
  /** The zero value of its type where it is not defined, so that there is one way to say so. */
  readonly value: T
}

export const optional = <T>(inner: Type<T>): StructType<Optional<T>> => {
  const whole = struct(`Optional<${inner.name}>`, { defined: bool, value: inner })
  const zero = toHex(inner.encode(inner.zero))
  return {
    ...whole,
    read: (field) => {
      const found = whole.read(field)
      if (found.defined) return found
      // One object for all that is not defined, so that its hash is remembered.
      if (found.value === inner.zero || toHex(inner.encode(found.value)) === zero) return whole.zero
      const rule = `must hold ${JSON.stringify(inner.zero)} as its value where it is not defined`
      return refuseField(field, 'FIELD_VALUE', rule, 'another')
    },
  }
}

/** What is there, or what stands for it. */
export const valueOr = <T>({ defined, value }: Optional<T>, fallback: T): T =>
  defined ? value : fallback

/** A domain is hashed for itself and within its request; hashing is most of what a request costs. */
function remembered<T extends object>(hash: (value: T) => Uint8Array): (value: T) => Uint8Array {
  const known = new WeakMap<T, Uint8Array>()
  return (value) => {
    const found = known.get(value) ?? hash(value)
    known.set(value, found)
    return found
  }
}

function held(fields: Readonly<Record<string, Field>>, member: string): Field {
  const field = fields[member]
  if (field === undefined) throw new Error(`readFields lets no ${member} be missing`)
  return field
}

function typeStringOf(name: string, structs: ReadonlyMap<string, string>): string {
  const others = [...structs.keys()].filter((other) => other !== name).sort(order)
  return [name, ...others].map((each) => structs.get(each)).join('')
}

/** By code units, as EIP-712 sorts: not by language. */
function order(a: string, b: string): number {
  return a < b ? -1 : 1
}
