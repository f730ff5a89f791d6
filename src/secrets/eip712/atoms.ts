/** The types without parts: string, uint256, bool and address. EIP-712, "Definition of encodeData". */
import { type Field, readBoolean, readWholeNumber, refuseField } from '../../documents/index.ts'
import { type Address, NOBODY, parseAddress } from './address.ts'
import { keccakText, WORD } from './keccak.ts'
import type { Type } from './type.ts'

/** Text in a domain is a salt, an address or a delay; a blinded message has 384 characters. */
export const MAX_STRING = 4_096

const NO_STRUCTS: ReadonlyMap<string, string> = new Map()

export const string: Type<string> = {
  name: 'string',
  structs: NO_STRUCTS,
  zero: '',
  encode: keccakText,
  read: readString,
}

/** Up to 2^53 - 1: a larger number of JSON is not the same to every reader. */
export const uint256: Type<number> = {
  name: 'uint256',
  structs: NO_STRUCTS,
  zero: 0,
  encode: word,
  read: (field) => readWholeNumber(field, { min: 0 }),
}

export const bool: Type<boolean> = {
  name: 'bool',
  structs: NO_STRUCTS,
  zero: false,
  encode: (value) => word(value ? 1 : 0),
  read: readBoolean,
}

export const address: Type<Address> = {
  name: 'address',
  structs: NO_STRUCTS,
  zero: NOBODY,
  encode: (value) => {
    const bytes = new Uint8Array(WORD)
    bytes.set(Buffer.from(value.slice(2), 'hex'), WORD - 20)
    return bytes
  },
  read: (field) =>
    parseAddress(readString(field)) ??
    refuseField(
      field,
      'FIELD_VALUE',
      'must be an address of 0x and 40 digits, capitals checksummed',
    ),
}

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

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(WORD)
  new DataView(bytes.buffer).setBigUint64(WORD - 8, BigInt(value))
  return bytes
}
