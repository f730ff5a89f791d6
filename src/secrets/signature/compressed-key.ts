/** Public keys in domains: a compressed point of secp256k1 in hexadecimal digits. */
import { refuseDomain } from '../domain-bounds.ts'
import { fromHex } from '../eip712/keccak.ts'
import { isPublicKey } from './recover.ts'

/** 66 lower-case digits. The text itself is hashed as the domain spells it. */
export const compressedKey = (text: string): string => {
  const digits = text.replace(/^0x/, '').toLowerCase()
  const bytes = fromHex(`0x${digits}`)
  if (bytes !== undefined && isPublicKey(bytes)) return digits
  const rule = 'must be a compressed point of secp256k1, 33 bytes in hexadecimal'
  return refuseDomain('publicKey', rule, JSON.stringify(text.slice(0, 70)))
}
