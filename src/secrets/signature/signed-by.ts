/** Whether a request was signed by whom its domain names. */
import type { Address } from '../eip712/address.ts'
import { recover, type Signatory } from './recover.ts'

/** Undefined if so; else what was found instead. */
export const signedBy = (
  hash: Uint8Array,
  signature: string,
  who: Expected,
): string | undefined => {
  if (signature === '') return 'no signature'
  const found = recover(hash, signature)
  if (found === undefined) return 'no signature of 65 bytes r || s || v in hexadecimal with a low s'
  return matches(found, who) ? undefined : `a signature by ${found.address}`
}

export type Expected = { readonly addresses: readonly Address[] } | { readonly publicKey: string }

function matches(found: Signatory, who: Expected): boolean {
  return 'publicKey' in who
    ? found.publicKey === who.publicKey
    : who.addresses.includes(found.address)
}
