/** Account addresses as Ethereum writes them: `0x` and hexadecimal digits, in upper or lower case. */

/** Six times a real address: the text is a key in the store, so it has a bound. */
export const MAX_EVM_ADDRESS_LENGTH = 256

/** Trimmed and in lower case; undefined for any other text. Neither padded nor checked for a checksum. */
export const canonicalEvmAddress = (text: string): string | undefined => {
  const canonical = text.trim().toLowerCase()
  return canonical.length <= MAX_EVM_ADDRESS_LENGTH && EVM_ADDRESS.test(canonical)
    ? canonical
    : undefined
}

const EVM_ADDRESS = /^0x[0-9a-f]+$/
