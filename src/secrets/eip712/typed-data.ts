/**
 * Types of EIP-712, each with all that follows from it: its name in a type string, the 32 bytes that
 * encode a value in its parent, its zero value, and a strict reader of JSON. EIP-712, "Definition of
 * encodeType" and "Definition of encodeData"; CIP-40, "Mapping TypeScript to EIP-712 types".
 */
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import {
  type Field,
  type OtherFields,
  readFields,
  readList,
  refuseField,
} from '../../documents/field.ts'
import { readBoolean, readWholeNumber } from '../../documents/scalars.ts'
import {
  type EthereumAddress,
  keccak,
  keccakText,
  numberWord,
  parseEthereumAddress,
  toHex,
  WORD,
  ZERO_ADDRESS,
} from './ethereum.ts'

export interface Eip712Type<T> {
  /** As a type string writes it: `uint256`, `Stage[]`, `Optional<string>`. */
  readonly name: string
  /** The structs it is made of, itself included, from name to definition. */
  readonly structs: ReadonlyMap<string, string>
  readonly zero: T
  /** 32 bytes. Two values that differ encode differently, as far as keccak does not collide. */
  encode(value: T): Uint8Array
  /** Throws for anything that is no value of this type; nothing is converted. `others`: of structs. */
  read(field: Field, others?: OtherFields): T
}

/** Text in a domain is a salt, an address or a delay; a blinded message has 384 characters. */
export const MAX_STRING = 4_096

const NO_STRUCTS: ReadonlyMap<string, string> = new Map()

export const string: Eip712Type<string> = {
  name: 'string',
  structs: NO_STRUCTS,
  zero: '',
  encode: keccakText,
  read: readString,
}

/** Up to 2^53 - 1: a larger number of JSON is not the same to every reader. */
export const uint256: Eip712Type<number> = {
  name: 'uint256',
  structs: NO_STRUCTS,
  zero: 0,
  encode: numberWord,
  read: (field) => readWholeNumber(field, { min: 0 }),
}

export const bool: Eip712Type<boolean> = {
  name: 'bool',
  structs: NO_STRUCTS,
  zero: false,
  encode: (value) => numberWord(value ? 1 : 0),
  read: readBoolean,
}

export const address: Eip712Type<EthereumAddress> = {
  name: 'address',
  structs: NO_STRUCTS,
  zero: ZERO_ADDRESS,
  encode: (value) => {
    const bytes = new Uint8Array(WORD)
    bytes.set(hexToBytes(value.slice(2)), WORD - 20)
    return bytes
  },
  read: (field) =>
    parseEthereumAddress(readString(field)) ??
    refuseField(
      field,
      'FIELD_VALUE',
      'must be an address of 0x and 40 digits, capitals checksummed',
    ),
}

export interface StructType<T> extends Eip712Type<T> {
  /** The definition, followed by those it refers to, sorted by name. */
  readonly typeString: string
  readonly typeHash: Uint8Array
}

type Members = Readonly<Record<string, Eip712Type<unknown>>>
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
  const build = (value: (member: string, type: Eip712Type<unknown>) => unknown): Struct<M> =>
    Object.fromEntries(sorted.map(([member, type]) => [member, value(member, type)])) as Struct<M>
  return {
    name,
    structs,
    typeString,
    typeHash,
    zero: build((_, type) => type.zero),
    encode: remembered((value) =>
      keccak(concatBytes(typeHash, ...sorted.map(([member, type]) => type.encode(value[member])))),
    ),
    read: (field, others = 'refused') => {
      const fields = readFields(field, { required: Object.keys(members), optional: [], others })
      return build((member, type) => type.read(held(fields, member), others))
    },
  }
}

/** Of at most `most` values. */
export const list = <T>(item: Eip712Type<T>, most: number): Eip712Type<readonly T[]> => ({
  name: `${item.name}[]`,
  structs: item.structs,
  zero: [],
  encode: (values) => keccak(concatBytes(...values.map((value) => item.encode(value)))),
  read: (field, others) => {
    const items = readList(field)
    if (items.length <= most) return items.map((each) => item.read(each, others))
    return refuseField(field, 'FIELD_VALUE', `must hold at most ${most}`, `${items.length}`)
  },
})

export interface Optional<T> {
  readonly defined: boolean
  /** The zero value of its type where it is not defined, so that there is one way to say so. */
  readonly value: T
}

export const optional = <T>(inner: Eip712Type<T>): StructType<Optional<T>> => {
  const whole = struct(`Optional<${inner.name}>`, { defined: bool, value: inner })
  const zero = toHex(inner.encode(inner.zero))
  return {
    ...whole,
    read: (field, others) => {
      const found = whole.read(field, others)
      if (found.defined) return found
      // One object for all that is not defined, so that its hash is remembered.
      if (found.value === inner.zero || toHex(inner.encode(found.value)) === zero) return whole.zero
      const rule = `must hold ${JSON.stringify(inner.zero)} as its value where it is not defined`
      return refuseField(field, 'FIELD_VALUE', rule, 'another')
    },
  }
}

/** The value where it is defined, else the fallback. */
export const valueOr = <T>({ defined, value }: Optional<T>, fallback: T): T =>
  defined ? value : fallback

/** What a hash is bound to. EIP-712 also knows chain, contract and salt; CIP-40 leaves them out. */
export interface NameAndVersion {
  readonly name: string
  readonly version: string
}

const EIP712Domain = struct('EIP712Domain', { name: string, version: string })

const PREFIX = Uint8Array.of(0x19, 0x01)

export const domainSeparator = (bound: NameAndVersion): Uint8Array => EIP712Domain.encode(bound)

/** The hash that is signed: `keccak(0x1901 || separator || struct)`. EIP-712, "Specification". */
export const hashTypedData = <T>(
  bound: NameAndVersion,
  type: StructType<T>,
  value: T,
): Uint8Array => keccak(concatBytes(PREFIX, domainSeparator(bound), type.encode(value)))

/** Lone surrogates are refused: as UTF-8 they would all become the same character. */
function readString(field: Field): string {
  const { node } = field
  if (node.kind !== 'scalar' || !node.quoted) {
    return refuseField(field, 'FIELD_TYPE', 'must be text in quotes')
  }
  if (node.text.length > MAX_STRING) {
    const rule = `must be at most ${MAX_STRING} characters long`
    return refuseField(field, 'FIELD_VALUE', rule, `${node.text.length}`)
  }
  if (/\p{Surrogate}/u.test(node.text)) {
    return refuseField(field, 'FIELD_VALUE', 'must be Unicode text', 'a lone surrogate')
  }
  return node.text
}

/** A domain is hashed by itself and again within its request; hashing is most of what a request costs. */
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
