/**
 * A type of EIP-712, with all that follows from it: its name in a type string, the 32 bytes that
 * stand for a value in its parent, its zero value, and a strict reader of JSON.
 */
import type { Field } from '../../documents/index.ts'

export interface Type<T> {
  /** As a type string writes it: `uint256`, `Stage[]`, `Optional<string>`. */
  readonly name: string
  /** The structs it is made of, itself included: name to definition. */
  readonly structs: ReadonlyMap<string, string>
  readonly zero: T
  /** 32 bytes. Two values that differ encode differently, as far as keccak does not collide. */
  encode(value: T): Uint8Array
  /** Throws for whatever is no value of this type; nothing is converted. */
  read(field: Field): T
}
