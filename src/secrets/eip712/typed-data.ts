/** The hash that is signed: `keccak(0x1901 || separator || struct)`. EIP-712, "Specification". */
import { string } from './atoms.ts'
import { concat, keccak } from './keccak.ts'
import { type StructType, struct } from './struct.ts'

/** Only name and version: CIP-40 leaves chain, contract and salt out. */
export interface Context {
  readonly name: string
  readonly version: string
}

const EIP712Domain = struct('EIP712Domain', { name: string, version: string })

const PREFIX = Uint8Array.of(0x19, 0x01)

export const domainSeparator = (context: Context): Uint8Array => EIP712Domain.encode(context)

export const hashTypedData = <T>(context: Context, type: StructType<T>, value: T): Uint8Array =>
  keccak(concat(PREFIX, domainSeparator(context), type.encode(value)))
